import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { givePasswords, signIn } from '../../web/browser.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Rivet' });
});

const plans = '/api/ai-workspace/agent';
type Plan = { action_id: string; plan_hash: string };
const edit = (person: Person | { token: string }, { action_id, plan_hash }: Plan, params: object, index = 0) =>
  app.as(person).post(`${plans}/plans/${action_id}/edit`, { plan_hash, changes: [{ index, params }] });
const confirm = (person: Person, session_id: string, { action_id, plan_hash }: Plan) =>
  app.as(person).post(`${plans}/confirm`, { session_id, action_id, plan_hash });
const due = (due_date: string) => ({
  tool: 'task.update' as const,
  entity_id: task.task_id,
  params: { due_date, priority: 'high' },
});

it('an edited plan is another one: tried again, with its own hash, and the first is closed', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  const { status, body } = await edit(team.member, plan, { due_date: '2027-02-02' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    edited_from: plan.action_id,
    actions: [{ params: { due_date: '2027-02-02', priority: 'high' }, after: { due_date: '2027-02-02', priority: 'high' } }],
  });
  expect(body.plan_hash).not.toBe(plan.plan_hash);
  expect((await app.as(team.member).get(`${plans}/plans/${plan.action_id}`)).body).toMatchObject({
    status: 'discarded',
    closed_reason: 'superseded',
  });
  expect((await confirm(team.member, body.session_id, plan)).status).toBe(409);
  expect((await confirm(team.member, body.session_id, body)).status).toBe(200);
  expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({
    due_date: '2027-02-02',
    priority: 'high',
  });
});

it('keeps the plan if an action rejects the edit', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  for (const [params, index] of [
    [{ due_date: 'soon' }, 0],
    [{ nonsense: 1 }, 0],
    [{ parent_task_id: 'nobody' }, 0],
    [{}, 7],
  ] as const) {
    const { status } = await edit(team.member, plan, params, index);
    expect([400, 404, 422]).toContain(status);
  }
  expect((await edit(team.member, { ...plan, plan_hash: 'sha256:other' }, {})).status).toBe(409);
  expect((await app.as(team.member).get(`${plans}/plans/${plan.action_id}`)).body).toMatchObject({ status: 'staged' });
});

it('does not let an editor confirm a team plan of high risk, nor a further copy of it', async () => {
  const session = await buildSession(app, { team_id: team.team_id }, { kind: 'automation' });
  const other = await buildProject(app, team);
  const move = {
    tool: 'task.update' as const,
    entity_id: task.task_id,
    params: { project_id: other.project_id, priority: 'low' },
  };
  const plan = await staged(app, team.admin, [move], { session, source: 'automation', lifeHours: 24 });
  const first = (await edit(team.manager, plan, { priority: 'high' })).body;
  expect(await confirm(team.manager, session.session_id, first)).toMatchObject({
    status: 403,
    body: { reason: 'edited_by_you' },
  });
  const second = (await edit(team.admin, first, { priority: 'urgent' })).body;
  for (const person of [team.manager, team.admin]) {
    // What is offered and what is refused come from one evaluation.
    const { body } = await app.as(person).get(`/api/approvals/plan/${second.action_id}`);
    expect(body).toMatchObject({ state: 'pending', can_decide: false });
    expect((await confirm(person, session.session_id, second)).status).toBe(403);
  }
  const { behind_user_ids, edited_by } = await app.services.db('agent_plans').where({ action_id: second.action_id }).first();
  expect(edited_by).toEqual([team.manager.user_id, team.admin.user_id]);
  expect(behind_user_ids).toEqual(expect.arrayContaining([team.manager.user_id, team.admin.user_id]));
});

it('no token edits, and nobody edits what they may not decide', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  const made = await app.as(team.member).post('/api/auth/tokens', { name: 'T', scopes: ['ai:confirm', 'ai:chat'] });
  expect((await edit({ token: made.body.token }, plan, {})).status).toBe(403);
  expect((await edit(team.admin, plan, {})).status).toBe(404);
});

it('two edits at once leave one copy', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  const answers = await Promise.all(['2027-03-03', '2027-04-04'].map((day) => edit(team.member, plan, { due_date: day })));
  expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 409]));
  const waiting = await app.services.db('agent_plans').where({ staged_for: team.member.user_id, status: 'staged' });
  expect(waiting).toHaveLength(1);
});

it('a copy ends when its original would have, and an edit without a difference is refused', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  expect((await edit(team.member, plan, {})).status).toBe(400);
  expect((await edit(team.member, plan, { priority: 'high' })).status).toBe(400);
  const ends = "now() + interval '90 seconds'";
  await app.services
    .db('agent_plans')
    .where({ action_id: plan.action_id })
    .update({ expires_at: app.services.db.raw(ends) });
  const { expires_at } = await app.services.db('agent_plans').where({ action_id: plan.action_id }).first();
  const copy = (await edit(team.member, plan, { priority: 'low' })).body;
  expect(copy.expires_at).toBe(expires_at.toISOString());
});

it('a copy of an undo still refuses what has changed since, and takes its place', async () => {
  const plan = await staged(app, team.member, [due('2027-01-01')]);
  const session_id = (await app.as(team.member).get(`${plans}/plans/${plan.action_id}`)).body.session_id;
  expect((await confirm(team.member, session_id, plan)).status).toBe(200);
  const undo = (await app.as(team.member).post(`${plans}/plans/${plan.action_id}/undo`)).body;
  await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { title: 'Changed meanwhile' });
  const copy = (await edit(team.member, undo, { priority: 'urgent' })).body;
  expect((await app.as(team.member).post(`${plans}/plans/${plan.action_id}/undo`)).status).toBe(409);
  expect((await confirm(team.member, session_id, copy)).body).toMatchObject({ plan_status: 'stale' });
});

describe('a plan without changes of its own', () => {
  const again = (person: Person, { action_id, plan_hash }: Plan) =>
    app.as(person).post(`${plans}/plans/${action_id}/edit`, { plan_hash, changes: [] });
  const close = { tool: 'task.set_status' as const, params: { status: 'done' } };
  let other: { task_id: string };
  beforeEach(async () => {
    other = await buildTask(app, team, await buildProject(app, team), { title: 'Bolt' });
  });

  it('is proposed again on the values of now, and what has nothing left to do is left out', async () => {
    const plan = await staged(app, team.member, [due('2027-01-01'), { ...close, entity_id: other.task_id }]);
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { tags: ['red'], priority: 'low' });
    await app.as(team.manager).patch(`/api/tasks/${other.task_id}`, { status: 'done' });
    const { status, body } = await again(team.member, plan);
    expect([status, body.edited_from, body.omitted]).toEqual([200, plan.action_id, [{ index: 1, reason: expect.any(String) }]]);
    expect(body.actions).toMatchObject([{ before: { priority: 'low' }, after: { priority: 'high', due_date: '2027-01-01' } }]);
    expect((await confirm(team.member, body.session_id, plan)).status).toBe(409);
    expect((await confirm(team.member, body.session_id, body)).status).toBe(200);
    expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({ priority: 'high', tags: ['red'] });
  });

  it('stays where nothing is left to do, and is the business of who may confirm it alone', async () => {
    const plan = await staged(app, team.member, [{ ...close, entity_id: other.task_id }]);
    expect((await again(team.admin, plan)).status).toBe(404);
    await app.as(team.manager).patch(`/api/tasks/${other.task_id}`, { status: 'done' });
    expect((await again(team.member, plan)).status).toBe(409);
    expect((await app.as(team.member).get(`${plans}/plans/${plan.action_id}`)).body.status).toBe('staged');
  });

  it('has a button on its card where a target has changed', async () => {
    await givePasswords(app);
    const browser = await signIn(app, team.member);
    const plan = await staged(app, team.member, [due('2027-01-01')]);
    const path = `/app/approvals/plan/${plan.action_id}`;
    expect((await browser.get(path)).html).not.toContain('Propose again');
    await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { tags: ['red'] });
    const { html } = await browser.get(path);
    expect(html).toMatch(/formaction="\/app\/approvals\/plans\/propose-again"/);
    expect(html).toMatch(/class="chip late"><bdi>[^<]+<\/bdi> changed tags/);
    const form = { action_id: plan.action_id, plan_hash: plan.plan_hash };
    const sent = await browser.post('/app/approvals/plans/propose-again', form, { from: path });
    const next = sent.headers.get('location') ?? '';
    expect(next).toMatch(/^\/app\/approvals\/plan\/[0-9a-f-]{36}$/);
    const shown = (await browser.get(next)).html;
    expect([shown.includes('Proposed again on the values of now.'), shown.includes('propose-again')]).toEqual([true, false]);
  });
});
