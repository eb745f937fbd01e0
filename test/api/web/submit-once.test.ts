import { createHash } from 'node:crypto';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { until } from '../../support/worker.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// What one rendered page sends twice, by a second click or a reload, is done once and answered twice.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let browser: Browser;
const db = () => app.services.db;
const location = (answer: { headers: Headers }): string => answer.headers.get('location') ?? '';

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbour' });
  await givePasswords(app);
  browser = await signIn(app, team.member);
});
afterAll(() => app.close());

const readToken = async (from: string, person = browser): Promise<string> => readCsrf((await person.get(from)).html) as string;
const rows = (table: string, where: object) => db()(table).where(where);

/** Sends one form five times at once, and once more when it was answered; returns where the answers lead. */
async function sendOften(path: string, form: Record<string, string>, from = path): Promise<string[]> {
  const csrf = await readToken(from);
  const send = () => browser.post(path, form, { csrf });
  const answers = await Promise.all([1, 2, 3, 4, 5].map(send));
  answers.push(await send());
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 303]);
  return [...new Set(answers.map(location))];
}

describe('one page', () => {
  it('creates one project, and shows its notice to each answer', async () => {
    const form = { team_id: team.team_id, name: 'Once', description: '' };
    const [first, ...others] = await sendOften('/app/projects', form);
    const made = await rows('projects', { name: 'Once' });
    expect([made.length, first, others]).toEqual([1, `/app/projects/${made[0].project_id}`, []]);
    expect((await browser.get(first as string)).html).toContain('Once is ready.');
  });

  it('adds one task by quick add, and one comment', async () => {
    const path = `/app/projects/${project.project_id}`;
    await sendOften(`${path}/tasks`, { text: 'Paint the boat' }, path);
    expect(await rows('tasks', { title: 'Paint the boat' })).toHaveLength(1);
    const { task_id } = await buildTask(app, team, project, { title: 'Talk' });
    await sendOften(`/app/items/${task_id}/comments`, { content: 'Look here' }, `/app/items/${task_id}`);
    expect(await rows('comments', { task_id })).toHaveLength(1);
  });

  it('creates one automation and starts one run, which every answer shows', async () => {
    const form = { op: 'save', view: 'form', team_id: team.team_id, name: 'Once by hand', trigger_type: 'manual' };
    const [to, ...others] = await sendOften('/app/automations/new', form, '/app/automations/new?template=blank');
    const [automation, ...more] = await rows('automations', { name: 'Once by hand' });
    expect([to, others, more]).toEqual([`/app/automations/${automation.automation_id}`, [], []]);
    const runs = await sendOften(`${to}/run`, { version: '1' }, to);
    const started = await rows('automation_runs', { automation_id: automation.automation_id });
    expect(runs).toEqual(started.map(({ run_id }) => `/app/runs/${run_id}`));
  });

  it('does other fields anew, and another page the same fields', async () => {
    const path = `/app/projects/${project.project_id}`;
    const csrf = await readToken(path);
    for (const text of ['Buy rope', 'Buy nails']) await browser.post(`${path}/tasks`, { text }, { csrf });
    await browser.post(`${path}/tasks`, { text: 'Buy rope' }, { from: path });
    expect(await rows('tasks', { title: 'Buy rope' })).toHaveLength(2);
    expect(await rows('tasks', { title: 'Buy nails' })).toHaveLength(1);
  });
});

it('waits for the first submission while that is at work', async () => {
  const csrf = await readToken('/app/projects');
  const send = () => browser.post('/app/projects', { team_id: team.team_id, name: 'Slow', description: '' }, { csrf });
  let answers: Promise<string[]> | undefined;
  await db().transaction(async (held) => {
    await held('teams').where({ team_id: team.team_id }).forUpdate().first();
    answers = Promise.all([send(), send()]).then((both) => both.map(location));
    await until(() => rows('idempotency_keys', { key: csrf.split('.')[1] as string }).first());
  });
  const [made, ...more] = await rows('projects', { name: 'Slow' });
  const to = `/app/projects/${made?.project_id ?? (await until(() => rows('projects', { name: 'Slow' }).first())).project_id}`;
  expect([await answers, more]).toEqual([[to, to], []]);
});

it('lets a refused form and a preview be sent again', async () => {
  const csrf = await readToken('/app/projects');
  const form = { team_id: team.team_id, name: 'Later', description: '' };
  const seat = { team_id: team.team_id, user_id: team.member.user_id };
  await rows('memberships', seat).update({ role: 'guest' });
  expect((await browser.post('/app/projects', form, { csrf })).status).toBe(403);
  await rows('memberships', seat).update({ role: 'member' });
  expect((await browser.post('/app/projects', form, { csrf })).status).toBe(303);
  const preview = { op: 'add', add_type: 'notify', view: 'form', team_id: team.team_id };
  for (const _twice of [1, 2]) {
    const { status, html } = await browser.post('/app/automations/new', preview, { csrf });
    expect([status, html.includes('1. ')]).toEqual([200, true]);
  }
});

it('keeps no secret: a token is created and shown once', async () => {
  const csrf = await readToken('/app/account/tokens');
  const send = () => browser.post('/app/account/tokens', { name: 'Once', scopes: 'tasks:read', expires_in_days: '30' }, { csrf });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status]).toEqual([200, 409]);
  expect(second.html).toContain('This form was sent already. Reload the page to see what came of it.');
  expect(await rows('personal_access_tokens', { name: 'Once' })).toHaveLength(1);
  expect(await rows('idempotency_keys', { key: csrf.split('.')[1] as string })).toMatchObject([{ status: 200, body: null }]);
});

it('offers no undo again when the first offer has expired', async () => {
  const path = `/app/projects/${project.project_id}`;
  const csrf = await readToken(path);
  const shown = async (): Promise<boolean[]> => {
    const to = location(await browser.post(`${path}/tasks`, { text: 'Long ago' }, { csrf }));
    const { html } = await browser.get(to);
    return [html.includes('Long ago'), html.includes('action="/app/undo"')];
  };
  expect([await shown(), await shown()]).toEqual([
    [true, true],
    [true, true],
  ]);
  const key = rows('idempotency_keys', { key: csrf.split('.')[1] as string });
  await key.update({ body: db().raw(`jsonb_set(body::jsonb, '{at}', to_jsonb((body::jsonb->>'at')::bigint - 660000))::text`) });
  expect(await shown()).toEqual([true, false]);
});

it('keeps no plain digest of what was typed, from which a password could be guessed', async () => {
  const [csrf, path] = [await readToken('/app/projects'), '/app/projects'];
  const form = { team_id: team.team_id, name: 'hunter2', description: '' };
  await browser.post(path, form, { csrf });
  const [kept] = await rows('idempotency_keys', { key: csrf.split('.')[1] as string });
  const guess = createHash('sha256')
    .update(JSON.stringify([path, form, null]))
    .digest();
  expect([kept.address.length, guess.equals(kept.address), guess.equals(kept.fingerprint)]).toEqual([32, false, false]);
});

it('takes a form whose page had no key, each time', async () => {
  const path = `/app/projects/${project.project_id}`;
  const [csrf = ''] = (await readToken(path)).split('.');
  for (const _twice of [1, 2]) expect((await browser.post(`${path}/tasks`, { text: 'Old page' }, { csrf })).status).toBe(303);
  expect(await rows('tasks', { title: 'Old page' })).toHaveLength(2);
  const forged = await browser.post(`${path}/tasks`, { text: 'Forged' }, { csrf: `${'x'.repeat(43)}.${'y'.repeat(22)}` });
  expect([forged.status, await rows('tasks', { title: 'Forged' })]).toEqual([403, []]);
});
