import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The queue of approvals: one list by deadline, decided one by one or ticked together, and nothing moves while it is open.

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  browser = await signIn(app, team.manager);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
});

const db = () => app.services.db;
const say = (content: string) => ({ type: 'add_comment', params: { task_id: task.task_id, content } });
const gated = (options: Parameters<typeof buildRun>[2] = {}) =>
  buildRun(app, team, { actions: [GATE, say('Hello')] as never[], ...options });
const queue = async (query = '') => (await browser.get(`/app/approvals${query}`)).html;
const ticksIn = (html: string): string[] =>
  [...html.matchAll(/form="many" name="item" value="([^"]+)"/g)].map(([, value]) => value as string);
const idsIn = (html: string): string[] =>
  [...html.matchAll(/<article class="(?:gate|plan)" id="(?:gate|plan)-([^"]+)"/g)].map(([, id]) => id as string);
const getStatus = async ({ run_id }: TestRun) => (await db()('automation_runs').where({ run_id }).first()).status;
const risky = { type: 'http_request', params: { method: 'POST', url: 'https://a.test/', body: '{{secret:KEY}}' } };

it('gates and plans stand in one list by deadline, and are filtered by kind and risk', async () => {
  const late = await gated({ expiresIn: 7_200 });
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const comment = { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'Hi' } };
  const plan = await staged(app, team.admin, [comment], { session, source: 'overnight_triage', lifeHours: 1 });
  const soon = await gated({ expiresIn: 600, creator: team.admin, actions: [GATE, risky] as never[] });
  expect(idsIn(await queue())).toEqual([soon.run_id, plan.action_id, late.run_id]);
  // Home shows gates only, and leads to all.
  expect((await browser.get('/app')).html).toContain('<a class="more" href="/app/approvals">all 3</a>');
  expect(idsIn(await queue('?kind=plan'))).toEqual([plan.action_id]);
  expect(idsIn(await queue('?risk=high'))).toEqual([soon.run_id]);
  expect(idsIn(await queue('?risk=nonsense&team=x&after=y'))).toHaveLength(3);
});

it('ticked ones are decided together; what is of high risk has no box', async () => {
  const [first, second] = [await gated({ expiresIn: 600 }), await gated({ expiresIn: 700 })];
  const alone = await gated({ expiresIn: 800, creator: team.admin, actions: [GATE, risky] as never[] });
  const ticks = ticksIn(await queue());
  expect(ticks).toHaveLength(2);
  await db()('gates')
    .where({ run_id: second.run_id })
    .update({ expires_at: new Date(Date.now() - 1_000) });
  await browser.post('/app/approvals/decide', { item: ticks, decision: 'approve', comment: 'Both' }, { from: '/app/approvals' });
  expect(await queue()).toContain('1 approved. 1 refused: This approval expired');
  expect(await getStatus(first)).toBe('running');
  expect(await getStatus(second)).toBe('paused');
  expect(await getStatus(alone)).toBe('paused');
  const forged = [`gate ${alone.run_id} sha256:${'0'.repeat(64)}`];
  await browser.post('/app/approvals/decide', { item: forged, decision: 'approve' }, { from: '/app/approvals' });
  expect(await getStatus(alone)).toBe('paused');
  await browser.post('/app/approvals/decide', { decision: 'approve' }, { from: '/app/approvals' });
  expect(await queue()).toContain('Tick at least one.');
});

it('more than five gates of one automation fold together', async () => {
  const { automation_id } = await gated({ expiresIn: 600 });
  for (let at = 0; at < 5; at += 1) await gated({ expiresIn: 700 + at, automation: { automation_id } });
  const html = await queue();
  expect(html).toContain('6 waiting');
  expect(html.match(/<details class="alike">/g)).toHaveLength(1);
});

it('an open page is told how many are new, and lists what still waits', async () => {
  const first = await gated({ expiresIn: 600 });
  const since = Date.now() - 60_000;
  expect(await queue(`?since=${since}&live`)).not.toContain(' new</a>');
  await db()('gates').where({ run_id: first.run_id }).update({ requested_at: new Date() });
  const html = await queue(`?since=${since}&live`);
  expect(html).toContain('1 new</a>');
  expect(html).toContain(`data-waiting="${first.run_id}"`);
});

it('an expired gate is folded away, and asked for again with its time, its text and no approvals of before', async () => {
  const strict = { type: 'require_approval', params: { allow_self_approval: false, required_approvals: 2 } };
  const run = await gated({ actions: [strict, say('Hello')] as never[], expiresIn: 3600 });
  expect((await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
  await db()('gates')
    .where({ run_id: run.run_id })
    .update({ expires_at: new Date(Date.now() - 1_000), lapsed_at: new Date() });
  await db()('automation_runs')
    .where({ run_id: run.run_id })
    .update({ gate_expires_at: new Date(Date.now() - 1_000) });
  const html = await queue();
  expect(idsIn(html)).toEqual([]);
  expect(html).toContain(`action="/app/runs/${run.run_id}/ask-again"`);
  const guest = await signIn(app, team.guest);
  await guest.post(`/app/runs/${run.run_id}/ask-again`, {}, { from: '/app/approvals' });
  expect(idsIn(await queue())).toEqual([]);

  const { staged: before } = await db()('gates').where({ run_id: run.run_id }).first();
  await app.as(team.member).put(`/api/tasks/${task.task_id}`, { title: 'Rotate all keys' });
  await browser.post(`/app/runs/${run.run_id}/ask-again`, {}, { from: '/app/approvals' });
  const gate = await db()('gates').where({ run_id: run.run_id }).first();
  expect(gate.expires_at.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
  expect(gate.staged).not.toBe(before);
  expect(gate.staged).toContain('Rotate all keys');
  expect(await db()('gate_approvals').where({ run_id: run.run_id })).toEqual([]);
  expect(idsIn(await queue())).toEqual([run.run_id]);
  expect(await db()('outbox').where({ kind: 'run.wake', subject: run.run_id })).not.toEqual([]);
  // Whoever asks again is behind the run.
  expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(403);
  expect((await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
  await browser.post(`/app/runs/${run.run_id}/ask-again`, {}, { from: '/app/approvals' });
  expect(await queue()).toContain('The run has no expired approval');
});
