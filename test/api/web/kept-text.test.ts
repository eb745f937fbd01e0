import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WRITTEN_FIELDS } from '../../../api/web/server/kept-text.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// What a form that meets an expired session says, to a browser without scripts.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let path: string;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'Task' });
  path = `/app/items/${task.task_id}`;
});
afterAll(() => app.close());
beforeEach(async () => {
  browser = await signIn(app, team.member);
});

/** Ends every session of the user, as time does. */
const expire = () =>
  app.services
    .db('sessions')
    .where({ user_id: team.member.user_id })
    .update({ expires_at: new Date(0) });
const comments = () => app.services.db('comments').where({ task_id: path.slice('/app/items/'.length) });
const text = (name: string) => new RegExp(`data-name="${name}"[^>]*>\\n`);

it('shows what was typed, writes nothing, and leads back to the page by signing in', async () => {
  const csrf = readCsrf((await browser.get(path)).html) as string;
  await expire();
  const headers = { referer: `${app.url}${path}` };
  const refused = await browser.post(
    `${path}/comments`,
    { content: 'Long <b>thoughts</b>', parent_comment_id: 'p1' },
    { csrf, headers },
  );
  expect(refused.status).toBe(401);
  expect(refused.html).toContain('Long &lt;b&gt;thoughts&lt;/b&gt;</textarea>');
  expect(refused.html).toContain(`data-kept="${path}/comments"`);
  expect(refused.html).toContain('data-setting="parent_comment_id" value="p1"');
  expect(refused.html).toContain(`href="/app/sign-in?next=${encodeURIComponent(path)}"`);
  // The page holds no form, and nothing that would send the text again.
  expect([refused.html.includes('<form'), refused.html.includes(csrf)]).toEqual([false, false]);
  expect(browser.set().join()).not.toContain('thoughts');
  expect(await comments()).toEqual([]);
});

it('shows only texts that were changed, and no password, code or secret', async () => {
  await expire();
  const fields = {
    title: 'Same',
    'was-title': 'Same',
    description: 'New\r\nlines',
    'was-description': 'Old',
    password: 'hunter2',
    new_password: 'hunter3',
    value: 'top-secret',
    code: '123456',
    json: '{}',
  };
  const { html } = await browser.post(`${path}/task`, fields, { csrf: 'x' });
  expect([text('title').test(html), text('description').test(html), html.includes('New\nlines')]).toEqual([false, true, true]);
  for (const secret of ['hunter2', 'hunter3', 'top-secret', '123456']) expect(html).not.toContain(secret);
});

it('says the same of a form from before signing in again', async () => {
  const csrf = readCsrf((await browser.get(path)).html) as string;
  const refused = await (await signIn(app, team.member)).post(`${path}/comments`, { content: 'Typed before' }, { csrf });
  expect([refused.status, refused.html.includes('Form expired'), refused.html.includes('Typed before')]).toEqual([
    403,
    true,
    true,
  ]);
  expect(await comments()).toEqual([]);
});

it('shows nothing of a form of another site, of one that is too large, and of one with a file', async () => {
  await expire();
  const send = async (content: string, headers: Record<string, string>) =>
    (await browser.post(`${path}/comments`, { content }, { csrf: 'x', headers })).html;
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const html = await send('Call this number', headers);
    expect([html.includes('You are signed out'), html.includes('Call this number')]).toEqual([true, false]);
  }
  expect(await send('x'.repeat(300_000), {})).not.toContain('data-kept');
  const body = new FormData();
  body.set('content', 'In a part');
  const answer = await fetch(`${app.url}${path}/comments`, { method: 'POST', body, headers: { origin: app.url } });
  expect([answer.status, (await answer.text()).includes('In a part')]).toEqual([401, false]);
});

it('keeps no field that a template declares as a password, nor the value of a secret', () => {
  const views = resolve('api/web/views');
  const texts = readdirSync(views, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.eta'))
    .map((file) => readFileSync(join(views, file), 'utf8'));
  const passwords = texts.flatMap((template) => [
    ...[...template.matchAll(/<input[^>]*type="password"[^>]*>/g)].map(([tag]) => / name="([^"]+)"/.exec(tag)?.[1]),
    ...[...template.matchAll(/\{[^{}]*type: 'password'[^{}]*\}/g)].map(([spec]) => /name: '([^']+)'/.exec(spec)?.[1]),
    ...[...template.matchAll(/\{[^{}]*autocomplete: '(?:one-time-code|off)'[^{}]*\}/g)].map(
      ([spec]) => /name: '([^']+)'/.exec(spec)?.[1],
    ),
  ]);
  expect(passwords.length).toBeGreaterThan(2);
  const secrets = [...passwords, 'value', 'secret', 'env', 'command', 'json', 'code', 'token'];
  expect(WRITTEN_FIELDS.filter((name) => secrets.includes(name))).toEqual([]);
});
