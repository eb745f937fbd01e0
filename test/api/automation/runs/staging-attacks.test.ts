import type { Context } from '../../../../api/platform/context.js';
import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { until } from '../../../support/worker.js';
import { startApp, type TestApp } from '../../../support/app.js';

// What an attack on gates found: each was possible before its repair.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project, { title: 'Payroll' });
});

const db = () => app.services.db;
const carrier = ({ run_id }: { run_id: string }) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });

async function openedRun(actions: object[], options: Parameters<typeof buildRun>[2] = {}): Promise<TestRun> {
  const all = [GATE, ...actions] as { type: string }[];
  const given = { actions: all, status: 'running' as const, statuses: all.map(() => 'pending' as const), gateIndex: 99 };
  const run = await buildRun(app, team, { ...given, ...options });
  await openGate(app.services, carrier(run), 0);
  return run;
}
async function splitLines(run: TestRun) {
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  return (await describeGates(ctx, [run.run_id]))[run.run_id]?.lines ?? [];
}
const toText = async ({ run_id }: TestRun) => (await db()('gates').where({ run_id }).first()).staged as string;
const decide = (body: object) => app.as(team.manager).post('/api/approvals/decide', { decision: 'approve', ...body });
const findItem = async ({ run_id: id }: TestRun) => {
  const { body } = await app.as(team.manager).get(`/api/approvals/gate/${id}`);
  return { kind: 'gate', id, staged_hash: body.staged_hash };
};

it.each(['constructor', '__proto__', 'toString'])(
  'an event that names %s as a user, a task or a relation opens its gate',
  async (id) => {
    const run = await openedRun(
      [
        { type: 'assign_task', params: { task_id: task.task_id, assigned_to: '{{event.name}}' } },
        { type: 'set_task_status', params: { task_id: '{{event.name}}', status: 'done' } },
        {
          type: 'create_relation',
          params: { source_id: task.task_id, target_id: '{{event.name}}', relation_type: '{{event.name}}' },
        },
      ],
      { fields: { event: JSON.stringify({ name: id }) } },
    );
    expect(await splitLines(run)).toMatchObject([{ refused: expect.any(String) }, {}, {}]);
    expect((await app.as(team.manager).get('/api/approvals')).status).toBe(200);
    expect((await app.as(team.manager).get(`/api/approvals/gate/${run.run_id}`)).status).toBe(200);
  },
);

it('a relation to an item of another team shows nothing of it, and waits for none of its locks', async () => {
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'admin' });
  const place = await buildProject(app, other);
  const parent = await buildTask(app, other, place, { title: 'Not yours' });
  const child = await buildTask(app, other, place, { title: 'Nor this', parent_task_id: parent.task_id });
  for (const relation_type of ['parent_child', 'blocks']) {
    const params = { source_id: task.task_id, target_id: child.task_id, relation_type };
    const run = await openedRun([{ type: 'create_relation', params }]);
    expect(await toText(run)).not.toMatch(/Not yours|Nor this/);
    const [line] = await splitLines(run);
    expect(line).toMatchObject({ refused: 'A team automation can only act in its team' });
    expect(JSON.stringify(line)).not.toMatch(/Not yours|Nor this/);
  }
});

it('requires a single decision for an action that the trial rejected', async () => {
  const gone = await buildProject(app, team);
  await app.as(team.admin).delete(`/api/projects/${gone.project_id}`);
  const run = await openedRun([{ type: 'update_task', params: { task_id: task.task_id, project_id: gone.project_id } }]);
  expect(await splitLines(run)).toMatchObject([{ refused: expect.any(String) }]);
  const { body } = await decide({ items: [await findItem(run)] });
  expect(body.results).toMatchObject([{ error_code: 'RESOURCE_CONFLICT', reason: 'decide_singly' }]);
  // The target of a refused action is known all the same: its change shows.
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { priority: 'low' });
  expect(await splitLines(run)).toMatchObject([{ changed: { at: expect.any(String) } }]);
});

it('a target is known by the title that it has, not by one that an earlier action gives it', async () => {
  const params = { task_id: task.task_id };
  const run = await openedRun([
    { type: 'update_task', params: { ...params, title: 'Old junk' } },
    { type: 'set_task_status', params: { ...params, status: 'done' } },
    { type: 'update_task', params: { ...params, title: 'Older junk' } },
  ]);
  expect((await splitLines(run)).map(({ title }) => title)).toEqual(['Payroll', 'Payroll', 'Payroll']);
});

it('a batch of all or none locks no run that the caller may not see', async () => {
  const foreign = await buildRun(app, await buildTeam(app));
  const own = await openedRun([{ type: 'add_comment', params: { task_id: task.task_id, content: 'Said' } }]);
  const items = [await findItem(own), { kind: 'gate', id: foreign.run_id, staged_hash: 'sha256:0' }];
  // The batch waits for its own run, and would have locked the other one before it: runs are locked by id.
  const holder = await db().transaction();
  await holder('automation_runs').where({ run_id: own.run_id }).forUpdate();
  const answer = decide({ mode: 'all', items });
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await db().raw(waits)).rowCount > 0);
  await db().raw('select from automation_runs where run_id = ? for update nowait', [foreign.run_id]);
  await holder.rollback();
  expect((await answer).status).toBe(403);
  expect(await db()('gate_approvals').where({ run_id: own.run_id })).toEqual([]);
});

it('a strict token that may read automations reads no plans', async () => {
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const action = { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'Still needed?' } };
  const { action_id } = await staged(app, team.admin, [action], { session, source: 'overnight_triage', lifeHours: 8 });
  const reader = await buildToken(app, team.manager, ['automations:read'], { strict: true });
  const path = `/api/approvals/plan/${action_id}`;
  expect([(await app.as(reader).get(path)).status, (await app.as(reader).get('/api/approvals?kind=plan')).status]).toEqual([
    403, 403,
  ]);
  expect((await app.as(reader).get('/api/approvals')).body).toEqual([]);
  const both = await buildToken(app, team.manager, ['automations:read', 'ai:chat'], { strict: true });
  expect((await app.as(both).get('/api/approvals')).body).toMatchObject([{ id: action_id }]);
});

it('asking again forgets the versions of an earlier yes', async () => {
  const gate = { ...GATE, params: { if_changed: 'ask_again', required_approvals: 2 } };
  const run = await openedRun([{ type: 'set_task_status', params: { task_id: task.task_id, status: 'done' } }]);
  await db()('gates')
    .where({ run_id: run.run_id })
    .update({ asks_again: true, required_approvals: gate.params.required_approvals });
  expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
  const past = { requested_at: '2026-01-01', expires_at: '2026-01-02' };
  await db()('gates').where({ run_id: run.run_id }).update(past);
  const { askAgain } = await import('../../../../api/automation/runs/approvals/asking/ask-again.js');
  const { user_id: userId, email } = team.manager;
  const actor = { type: 'user', userId, email, role: 'user', impersonatorId: null };
  await askAgain({ ...app.services, actor, correlationId: run.run_id, requestId: run.run_id } as unknown as Context, run.run_id);
  expect(await db()('gates').where({ run_id: run.run_id }).first()).toMatchObject({ known_versions: null, decision: null });
});
