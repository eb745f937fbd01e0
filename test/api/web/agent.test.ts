/** The conversation with the agent in a browser without scripts. */
import { randomUUID } from 'node:crypto';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';
import { type Browser, givePasswords, signIn } from './browser.js';

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let browser: Browser;
let task_id: string;
let path: string;

const db = () => app.services.db;
const page = async () => (await browser.get(path)).html;
const getValue = (html: string, name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const send = async (message: string, message_id?: string) =>
  browser.post(`${path}/messages`, { message, message_id: message_id ?? getValue(await page(), 'message_id') }, { from: path });

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  const project = await buildProject(app, team);
  ({ task_id } = await buildTask(app, team, project, { title: 'Login 500' }));
  browser = await signIn(app, team.member);
  path = (await browser.post('/app/agent')).headers.get('location') as string;
  await browser.post(`${path}/link`, { item_type: 'task', item_id: task_id });
});

it('begins a session about a project with its first message', async () => {
  const { html } = await browser.get('/app/agent');
  const project = /<option value="([^"]{36})">About /.exec(html)?.[1] as string;
  const first = { message: 'close Login 500', message_id: randomUUID(), project_id: project };
  const begun = await browser.post('/app/agent/start', first);
  const to = begun.headers.get('location') as string;
  expect(to).toMatch(/^\/app\/agent\/[0-9a-f-]+#last$/);
  const talk = (await browser.get(to.replace('#last', ''))).html;
  expect([talk.includes('close Login 500'), talk.includes(`/app/items/${project}`)]).toEqual([true, true]);
});

it('is about all work, or about the project whose page one comes from', async () => {
  const mine = await buildProject(app, team, { name: 'Checkout' });
  const foreign = await buildProject(app, await buildTeam(app));
  const selected = async (path: string) =>
    /<option value="([^"]*)" selected>([^<]*)/.exec((await browser.get(path)).html)?.slice(1);
  const link = async (path: string) => /href="(\/app\/agent[^"]*)"/.exec((await browser.get(path)).html)?.[1] as string;
  const all = ['', 'About all your work'];
  expect(await selected(await link('/app'))).toEqual(all);
  for (const path of ['', '/about', '/updates'].map((rest) => `/app/projects/${mine.project_id}${rest}`))
    expect(await selected(await link(path))).toEqual([mine.project_id, 'About Checkout']);
  for (const from of [foreign.project_id, 'x', '%00']) expect(await selected(`/app/agent?project=${from}`)).toEqual(all);
});

it('shows lines that begin with a dash as a list, and nothing else of Markdown', async () => {
  const session_id = path.split('/').at(-1) as string;
  const title = 'Cut <b>this</b>';
  const { task_id: item_id } = await buildTask(app, team, await buildProject(app, team), { title });
  const content = `Two:\n\n- “${title}”, due\n- **Fix** it\n\nAnd\n-5 is no entry\n* One\n- `;
  const mentions = JSON.stringify([{ item_id, title }]);
  await db()('agent_messages').insert({ session_id, role: 'assistant', content, mentions });
  await db()('agent_messages').insert({ session_id, role: 'user', content: 'Why\nnot?' });
  const said = [...(await browser.get(path)).html.matchAll(/<div class="said">(.*?)<\/div>/gs)].map(([, text]) =>
    (text as string).replaceAll(/<\/?bdi>|\n/g, ''),
  );
  const link = `<a href="/app/items/${item_id}">“Cut &lt;b&gt;this&lt;/b&gt;”</a>`;
  expect(said).toEqual([
    `<p>Two:</p><ul><li>${link}, due</li><li>**Fix** it</li></ul><p>And<br>-5 is no entry</p><ul><li>One</li></ul><p>- </p>`,
    '<p>Why<br>not?</p>',
  ]);
});

it('says that rules answer, and shows what they know about real items, of which a click puts one into the message', async () => {
  const chips = async () => [...(await browser.get('/app/agent')).html.matchAll(/href="([^"]+)"><bdi>([^<]+)<\/bdi>/g)];
  const texts = async () => (await chips()).map(([, , text]) => text);
  expect((await browser.get('/app/agent')).html).toContain('No model is set: built-in rules answer here.');
  // Without a task of their own, that of the project; without a second one no sentence of two.
  expect(await texts()).toContainEqual(expect.stringMatching(/^mark TEA-\d+ as done$/));
  expect((await texts()).join()).not.toContain('is blocked by');
  const second = await buildTask(app, team, await buildProject(app, team), { title: 'Next' });
  await db()('tasks').where({ task_id: second.task_id }).update({ assigned_to: team.member.user_id });
  const { number } = await db()('tasks').where({ task_id: second.task_id }).first();
  const others = [team.manager, team.admin, team.guest].map(({ user_id }) => user_id);
  await db()('users').whereIn('user_id', others).update({ display_name: 'Zoe Quist' });
  const [, href] = (await chips()).find(([, , text]) => text === `mark TEA-${number} as done`) as RegExpMatchArray;
  expect((await browser.get(href as string)).html).toMatch(/<textarea id="f-message"[^>]*>mark TEA-\d+ as done<\/textarea>/);
  expect(await texts()).toContain('what did Zoe Quist do yesterday?');
  await db()('users').whereIn('user_id', others).update({ display_name: 'all, please' });
  expect(await texts()).toContainEqual(expect.stringMatching(/^what did @\S+ do yesterday\?$/));
});

it('leaves no session behind a first message that is refused, and keeps its text', async () => {
  const sessions = () => db()('agent_sessions').whereNull('deleted_at').where({ owner_id: team.member.user_id });
  const before = (await sessions()).length;
  const start = (fields: Record<string, string>) =>
    browser.post('/app/agent/start', { message: 'Kept text', message_id: randomUUID(), project_id: '', ...fields });
  const other = await buildTeam(app);
  const foreign = await start({ project_id: (await buildProject(app, other)).project_id });
  expect([foreign.status, foreign.html.includes('Kept text')]).toEqual([403, true]);
  expect((await start({ message: ' ' })).status).toBe(422);
  await db()('agent_settings').insert({ team_id: team.team_id, monthly_message_quota: 0 });
  const project = /<option value="([^"]{36})">About /.exec((await browser.get('/app/agent')).html)?.[1] as string;
  expect((await start({ project_id: project })).html).toContain('Kept text');
  expect(await sessions()).toHaveLength(before);
  const guest = await signIn(app, team.guest);
  expect((await guest.get('/app/agent')).html).not.toContain('>About ');
});

it('a person finds an item, links it, takes a suggestion, confirms its plan and takes it back', async () => {
  const other = await buildTask(app, team, await buildProject(app, team), { title: 'Cache the session' });
  const found = (await browser.get(`${path}?q=cache`)).html;
  expect(found).toContain('Cache the session');
  await browser.post(`${path}/link`, { item_type: 'task', item_id: other.task_id });
  const empty = await page();
  expect(empty).toContain('value="close Login 500"');
  expect(empty).toContain('value="Login 500 blocks Cache the session"');

  expect((await send('close Login 500')).headers.get('location')).toBe(`${path}#last`);
  const talk = await until(async () => {
    const html = await page();
    return html.includes('name="plan_hash"') && html;
  });
  expect(talk).toContain('Change status <bdi class="unseen"><strong>Login 500</strong></bdi>');
  // It waits in the session, and for its owner among the approvals.
  expect(talk).toMatch(/href="\/app\/approvals"(?:(?!<\/a>).)*class="count">1</s);
  expect((await browser.get('/app/approvals')).html.match(/<article class="plan/g)).toHaveLength(1);
  expect(talk).toMatch(/<del><bdi>[Tt]o ?do<\/bdi><\/del>.*<bdi>[Dd]one<\/bdi>/s);

  const fields = { action_id: getValue(talk, 'action_id'), plan_hash: getValue(talk, 'plan_hash') };
  await browser.post(`${path}/confirm`, fields, { from: path });
  expect(await page()).toContain('Tick at least one change.');
  await browser.post(`${path}/confirm`, { ...fields, index: '0' }, { from: path });
  const status = async () => (await db()('tasks').where({ task_id }).first()).status;
  expect(await status()).toBe('done');
  await browser.post(`${path}/undo`, { action_id: fields.action_id }, { from: path });
  const undo = await page();
  expect(undo).toContain('Undo: ');
  const inverse = undo.slice(undo.indexOf('Undo: '));
  const chosen = { action_id: getValue(inverse, 'action_id'), plan_hash: getValue(inverse, 'plan_hash'), index: '0' };
  await browser.post(`${path}/confirm`, chosen, { from: path });
  expect(await status()).toBe('todo');
});

it('a new title shows beside the old one, under which the card names the task', async () => {
  await send('rename Login 500 to "Delete everything"');
  const talk = await until(async () => {
    const html = await page();
    return html.includes('name="plan_hash"') && html;
  });
  expect(talk).toContain('Change task <bdi class="unseen"><strong>Login 500</strong></bdi>');
  expect(talk).toMatch(/<del><bdi>Login 500<\/bdi><\/del>.*<bdi>Delete everything<\/bdi>/s);
});

it('a change of what is not linked is proposed once the person links it, from the answer', async () => {
  const other = await buildTask(app, team, await buildProject(app, team), { title: 'Cache the session' });
  await send('close the cache');
  const asked = await until(async () => {
    const html = await page();
    return html.includes('and resend') && html;
  });
  expect(asked).not.toContain('name="plan_hash"');
  const fields = {
    message: getValue(asked, 'message'),
    message_id: getValue(asked, 'message_id'),
    item: getValue(asked, 'item'),
  };
  expect(fields).toMatchObject({ message: 'close the cache', item: `task ${other.task_id}` });
  const foreign = await buildTeam(app);
  const hidden = await buildTask(app, foreign, await buildProject(app, foreign), { title: 'Hidden' });
  const refused = await browser.post(`${path}/link-and-send`, { ...fields, item: `task ${hidden.task_id}` }, { from: path });
  expect([refused.headers.get('location'), await db()('agent_links').where({ item_id: hidden.task_id })]).toEqual([path, []]);
  expect((await browser.post(`${path}/link-and-send`, { ...fields, item: 'garbage' }, { from: path })).status).toBe(303);
  await browser.post(`${path}/link-and-send`, fields, { from: path });
  const talk = await until(async () => {
    const html = await page();
    return html.includes('name="plan_hash"') && html;
  });
  expect(talk).toContain('Change status <bdi class="unseen"><strong>Cache the session</strong></bdi>');
  expect(talk).not.toContain('and resend');
});

it('each of alike changes has a tick box', async () => {
  const project = await buildProject(app, team);
  for (const title of ['A', 'B', 'C', 'D']) {
    const made = await buildTask(app, team, project, { title });
    await browser.post(`${path}/link`, { item_type: 'task', item_id: made.task_id }, { from: path });
  }
  await send('set all linked tasks to in review');
  const talk = await until(async () => {
    const html = await page();
    return html.includes('name="plan_hash"') && html;
  });
  const fields = {
    action_id: getValue(talk, 'action_id'),
    plan_hash: getValue(talk, 'plan_hash'),
    index: [...talk.matchAll(/name="index" value="(\d)"/g)].map(([, index]) => index as string),
  };
  expect(fields.index).toEqual(['0', '1', '2', '3', '4']);
  await browser.post(`${path}/confirm`, fields, { from: path });
  expect(await db()('tasks').where({ team_id: team.team_id }).distinct('status').pluck('status')).toEqual(['in_review']);
});

it('a form that is sent twice is one message', async () => {
  const id = getValue(await page(), 'message_id');
  const twice = await Promise.all([send('close it', id), send('close it', id)]);
  expect(twice.map(({ status }) => status)).toEqual([303, 303]);
  await send('close it', id);
  expect(await db()('agent_messages').where({ role: 'user', content: 'close it' })).toHaveLength(1);
  expect((await db()('agent_usage').where({ team_id: team.team_id }).first()).messages).toBe(1);
});

it('a discarded plan, a removed link and a deleted session are gone', async () => {
  await send('close it');
  const talk = await until(async () => {
    const html = await page();
    return html.includes('Discard') && html;
  });
  await browser.post(`${path}/discard`, { action_id: getValue(talk, 'action_id') }, { from: path });
  expect(await page()).toContain('<span class="chip">discarded</span>');
  await browser.post(`${path}/unlink`, { item_type: 'task', item_id: task_id }, { from: path });
  expect(await page()).toContain('None yet.');
  await browser.post(`${path}/rename`, { title: 'Logins' }, { from: path });
  expect((await browser.get('/app/agent')).html).toContain('Logins');
  await browser.post(`${path}/delete`, {}, { from: path });
  expect((await browser.get(path)).status).toBe(404);
});

it('keeps the typed text of a rejected message', async () => {
  await db()('agent_settings').insert({ team_id: team.team_id, monthly_message_quota: 0 });
  const { status, html } = await send('close <b>it</b>');
  expect(status).toBe(402);
  expect(html).toContain('its 0 messages of this month');
  expect(html).toContain('close &lt;b&gt;it&lt;/b&gt;</textarea>');
});

it('another person’s session is none, and invisible characters show', async () => {
  const stranger = await signIn(app, team.manager);
  for (const action of ['messages', 'stop', 'link', 'unlink', 'rename', 'delete', 'confirm', 'discard', 'undo']) {
    const fields = {
      message: 'x',
      message_id: '019a9f00-0000-7000-8000-00000000000a',
      item_type: 'task',
      item_id: task_id,
      title: 'x',
    };
    const decided = { action_id: '019a9f00-0000-7000-8000-00000000000b', plan_hash: 'x', index: '0' };
    const { status } = await stranger.post(`${path}/${action}`, { ...fields, ...decided }, { from: '/app/agent' });
    expect([action, status === 404 || status === 303]).toEqual([action, true]);
  }
  expect((await stranger.get(path)).status).toBe(404);
  await send('note "a\u202eb": \u200btext');
  const html = await until(async () => {
    const shown = await page();
    return shown.includes('cannot be done') && shown;
  });
  expect(html).toContain('⟨U+202E⟩');
  expect(html).not.toContain('\u202e');
});

it('the first message names the session, and an answer links what it names', async () => {
  await send('what is the status of Login 500 & how far is it along with all that was planned for it?');
  const other = '<b>Title</b> & “more”';
  const project = await buildProject(app, team);
  const { task_id: hostile } = await buildTask(app, team, project, { title: other });
  await browser.post(`${path}/link`, { item_type: 'task', item_id: hostile });
  await send('summarise');
  const talk = await until(async () => {
    const html = await page();
    return html.includes('2 items are linked') && html;
  });
  expect(talk).toContain('<h1><bdi>what is the status of Login 500 &amp; how far is it along with…</bdi></h1>');
  expect(talk).toContain(`<a href="/app/items/${task_id}"><bdi>“Login 500”</bdi></a>`);
  expect(talk).toContain(`<a href="/app/items/${hostile}"><bdi>“&lt;b&gt;Title&lt;/b&gt; &amp; “more””</bdi></a>`);
  await browser.post(`${path}/rename`, { title: 'Mine' }, { from: path });
  await send('help');
  expect(await page()).toContain('<h1><bdi>Mine</bdi></h1>');
});

it('an answer is a change that its user alone follows', async () => {
  const events = async (person: Person, after = '') =>
    (await app.as(person).get(`/api/events?types=agent_session${after && `&after=${after}`}`)).body;
  const [own, other] = [(await events(team.member)).cursor, (await events(team.manager)).cursor];
  await send('summarise');
  const answered = await until(async () => {
    const { events: found } = await events(team.member, own);
    return found.find(({ type }: { type: string }) => type === 'agent_session.answered');
  });
  expect(answered).toMatchObject({ entity_id: path.split('/').at(-1), team_id: null, user_id: team.member.user_id });
  expect((await events(team.manager, other)).events).toEqual([]);
});
