import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { buildAutomation, comment, gate, setStatus } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam, UNSEATED } from '../factories/people.js';
import { skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { StandStill } from '../support/stand-still.js';
import { queuePrefix, runWorker, until, untilRunIs } from '../support/worker.js';

let app: TestApp;
let worker: RunningWorker;
let still: StandStill;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  still = new StandStill(app);
  await still.open();
  await still.at('comment', { table: 'comments', when: 'before insert', owner: "''" });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await still.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const findRun = (automation: { automation_id: string }) => db()('automation_runs').where(automation).first();
const runIn = (automation: { automation_id: string }, ...statuses: string[]) => untilRunIs(app, automation, ...statuses);
const commentsOn = (task: { task_id: string }) =>
  db()('comments').where({ task_id: task.task_id }).orderBy('created_at').pluck<string[]>('content');
const buildActions = (run: { run_id: string }) =>
  db()('run_actions').where({ run_id: run.run_id }).orderBy('index').pluck<string[]>('status');

it('an event runs the actions once, as the creator, and every trace names the run', async () => {
  const automation = await buildAutomation(app, team, {
    actions: [comment('seen {{event.task.title}}'), setStatus('in_progress')],
  });
  const task = await buildTask(app, team, project, { title: 'Hello' });
  const run = await runIn(automation, 'succeeded');
  expect(await commentsOn(task)).toEqual(['seen Hello']);
  expect((await app.as(team.guest).get(`/api/tasks/${task.task_id}`)).body.status).toBe('in_progress');
  expect(await db()('effects').where({ run_id: run.run_id })).toHaveLength(2);
  const entries = await db()('audit_entries').where({ actor_type: 'automation', team_id: team.team_id });
  expect(entries).toHaveLength(2);
  for (const entry of entries) {
    expect(entry).toMatchObject({ user_id: team.manager.user_id, correlation_id: run.correlation_id });
    expect(JSON.parse(entry.details).caused_by).toEqual({ automation_id: automation.automation_id, run_id: run.run_id });
  }
});

it('conditions and templates have the name of the task', async () => {
  await db()('teams').where({ team_id: team.team_id }).update({ key: 'HAR' });
  const automation = await buildAutomation(app, team, {
    condition: 'task.name == "HAR-2"',
    actions: [comment('seen {{event.task.name}}')],
  });
  const [first, second] = [await buildTask(app, team, project), await buildTask(app, team, project)];
  await runIn(automation, 'succeeded');
  expect([await commentsOn(first), await commentsOn(second)]).toEqual([[], ['seen HAR-2']]);
});

it('a condition that does not hold leaves a skipped row and no workflow', async () => {
  const automation = await buildAutomation(app, team, { condition: 'task.priority == "urgent"', actions: [comment('no')] });
  const task = await buildTask(app, team, project);
  const [skipped] = await until(async () => {
    const found = await skippedRuns(app, automation);
    return found.length > 0 && found;
  });
  expect(skipped).toMatchObject({ is_loop: false, condition_error: null, triggered_by: team.member.user_id });
  expect(await findRun(automation)).toBeUndefined();
  expect(await commentsOn(task)).toEqual([]);
});

it('pauses at a gate, and goes on when a manager approves', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('before'), gate(), setStatus('done')] });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  expect(await commentsOn(task)).toEqual(['before']);
  expect(await buildActions(run)).toEqual(['succeeded', 'running', 'staged']);
  const answer = await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
  expect(answer).toMatchObject({ status: 200, body: { decision: 'approved', approvals_needed: 0 } });
  await runIn(automation, 'succeeded');
  expect((await app.as(team.guest).get(`/api/tasks/${task.task_id}`)).body.status).toBe('done');
  expect(await buildActions(run)).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

it('two gates need two decisions', async () => {
  const automation = await buildAutomation(app, team, {
    actions: [gate(), comment('middle'), gate({ role: 'admin' }), comment('end')],
  });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  const approve = (person: { token: string }) => app.as(person).post(`/api/automations/runs/${run.run_id}/approve`);
  expect((await approve(team.manager)).status).toBe(200);
  await until(async () => (await db()('gates').where({ run_id: run.run_id })).length === 2);
  const [first, second] = await db()('gates').where({ run_id: run.run_id }).orderBy('gate_index');
  expect([run.gate_expires_at, (await runIn(automation, 'paused')).gate_expires_at]).toEqual([
    first.expires_at,
    second.expires_at,
  ]);
  expect(await commentsOn(task)).toEqual(['middle']);
  expect((await approve(team.manager)).status).toBe(403);
  expect((await approve(team.admin)).status).toBe(200);
  await runIn(automation, 'succeeded');
  expect(await commentsOn(task)).toEqual(['middle', 'end']);
});

it('a reject discards the tail: skipped, or failed when an action failed before', async () => {
  const clean = await buildAutomation(app, team, { actions: [gate(), comment('never')] });
  const dirty = await buildAutomation(app, team, { actions: [comment('x', 'no-such-task'), gate(), comment('never')] });
  const task = await buildTask(app, team, project);
  for (const automation of [clean, dirty]) {
    const run = await runIn(automation, 'paused');
    expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`, { reason: 'no' })).status).toBe(200);
  }
  expect(await runIn(clean, 'skipped')).toMatchObject({ skip_reason: 'rejected' });
  expect(await runIn(dirty, 'failed')).toMatchObject({ error: { code: 'resource_not_found' } });
  expect(await commentsOn(task)).toEqual([]);
});

it('an expired gate leaves the run paused: approve returns 410, reject still works', async () => {
  const automation = await buildAutomation(app, team, { actions: [gate({ expires_in_seconds: 1 }), comment('never')] });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  await until(() => db()('gates').where({ run_id: run.run_id }).whereNotNull('lapsed_at').first());
  const approve = await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
  expect(approve).toMatchObject({ status: 410, body: { error_code: 'APPROVAL_EXPIRED' } });
  expect(await findRun(automation)).toMatchObject({ status: 'paused' });
  expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`)).status).toBe(200);
  await runIn(automation, 'skipped');
  expect(await commentsOn(task)).toEqual([]);
});

it('failures go on or stop as the action says, and are never hidden', async () => {
  const goes = await buildAutomation(app, team, { actions: [comment('x', 'nope'), comment('after')] });
  const stops = await buildAutomation(app, team, {
    actions: [{ ...comment('{{secret:KEY}}'), on_failure: 'stop' }, comment('never')],
  });
  const missing = await buildAutomation(app, team, { actions: [comment('{{event.nothing.here}}')] });
  const task = await buildTask(app, team, project);
  const went = await runIn(goes, 'failed');
  expect(await buildActions(went)).toEqual(['failed', 'succeeded']);
  const stopped = await runIn(stops, 'failed');
  expect(await buildActions(stopped)).toEqual(['failed', 'skipped']);
  expect(stopped.error).toMatchObject({ code: 'secret_missing' });
  expect((await runIn(missing, 'failed')).error).toMatchObject({ code: 'template_missing' });
  expect(await commentsOn(task)).toEqual(['after']);
});

it.each(UNSEATED)(
  'the tail asks for the creator’s rights again: a creator who %s after the approval does nothing',
  async (_what, lose) => {
    const automation = await buildAutomation(app, team, {
      actions: [
        gate({ expires_in_seconds: 3600 }),
        comment('never'),
        { type: 'notify', params: { role: 'admin', message: 'no' } },
      ],
      creator: team.member,
    });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'paused');
    await worker.stop();
    try {
      expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
      await lose(app, team, team.member);
    } finally {
      worker = await runWorker(app);
    }
    expect(await runIn(automation, 'failed')).toMatchObject({ error: { code: 'creator_not_authorized' } });
    expect(await buildActions(run)).toEqual(['succeeded', 'failed', 'failed']);
    expect(await commentsOn(task)).toEqual([]);
    expect(await db()('notifications').where({ user_id: team.admin.user_id, kind: 'message' })).toEqual([]);
  },
);

it('an approval given while no worker runs is carried out when one starts, once', async () => {
  const automation = await buildAutomation(app, team, { actions: [gate(), comment('tail')] });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  await worker.stop();
  try {
    expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
  } finally {
    worker = await runWorker(app);
  }
  await runIn(automation, 'succeeded');
  expect(await commentsOn(task)).toEqual(['tail']);
});

it('edits, rollbacks and disabling do not change a waiting run, nor hide earlier failures', async () => {
  const head = comment('{{event.nothing}}');
  const actions = [head, gate(), comment('old')];
  const automation = await buildAutomation(app, team, { actions });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  const call = (path: string, body: object) =>
    app.as(team.manager).post(`/api/automations/${automation.automation_id}/${path}`, body);
  const edited = { actions: [head, gate({ role: 'admin' }), comment('new')] };
  expect((await app.as(team.manager).patch(`/api/automations/${automation.automation_id}`, edited)).body.version).toBe(2);
  expect((await call('rollback', { version: 1 })).body.version).toBe(3);
  expect((await app.as(team.manager).patch(`/api/automations/${automation.automation_id}`, edited)).body.version).toBe(4);
  expect((await call('toggle', { is_active: false })).status).toBe(200);
  expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
  const { error } = await runIn(automation, 'failed');
  expect(error).toMatchObject({ code: 'template_missing' });
  expect(await commentsOn(task)).toEqual(['old']);
  const dead = (await app.as(team.guest).get(`/api/automations/dead-letter?team_id=${team.team_id}`)).body;
  expect(dead.entries).toMatchObject([{ run_id: run.run_id, automation_version: 1, failed_actions: [{ index: 0 }] }]);
});

it('an operator who cancels the workflow ends the run: cancelled, and nothing of what was staged', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('head'), gate(), comment('never')] });
  const task = await buildTask(app, team, project);
  const { run_id } = await runIn(automation, 'paused');
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  await new Client({ connection }).workflow.getHandle(`run:${run_id}`).cancel();
  await connection.close();
  await runIn(automation, 'cancelled');
  expect(await buildActions({ run_id })).toEqual(['succeeded', 'skipped', 'skipped']);
  expect((await app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`)).status).toBe(409);
  expect(await commentsOn(task)).toEqual(['head']);
});

it('automations that set each other off stop at depth 10', async () => {
  const automation = await buildAutomation(app, team, {
    actions: [{ type: 'create_task', params: { title: 'again', project_id: project.project_id } }],
  });
  await buildTask(app, team, project);
  await until(async () => (await skippedRuns(app, automation)).some(({ is_loop }) => is_loop));
  await until(async () => (await db()('automation_runs').where(automation).whereNull('finished_at')).length === 0);
  expect(await db()('automation_runs').where({ ...automation, status: 'succeeded' })).toHaveLength(11);
});

it('the database’s own row guards a run beyond what Temporal remembers', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('once')] });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'succeeded');
  const again = { kind: 'run.start', subject: run.run_id, correlation_id: run.correlation_id };
  await db()('outbox').insert({ ...again, payload: JSON.stringify({ run_id: run.run_id, incarnation: 2 }) });
  await until(async () => (await db()('outbox').where({ subject: run.run_id })).length === 0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await commentsOn(task)).toEqual(['once']);
});

it('a run whose workflow was lost is started again from its row', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('head'), gate(), comment('tail')] });
  const task = await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  await new Client({ connection }).workflow.getHandle(`run:${run.run_id}`).terminate('lost');
  await connection.close();
  // Temporal's list of what runs may be a moment old.
  await until(async () => (await worker.reconcile()) === 1);
  await until(async () => (await findRun(automation)).claimed_by !== null);
  await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
  await runIn(automation, 'succeeded');
  expect(await commentsOn(task)).toEqual(['head', 'tail']);
});

it('a user whose change started a run cannot approve it', async () => {
  const automation = await buildAutomation(app, team, {
    creator: team.admin,
    actions: [gate({ allow_self_approval: false }), setStatus('done')],
  });
  await app.as(team.manager).post('/api/tasks', { title: 'Mine', project_id: project.project_id });
  const { run_id, triggered_by } = await runIn(automation, 'paused');
  expect(triggered_by).toBe(team.manager.user_id);
  const approve = (token: { token: string }) => app.as(token).post(`/api/automations/runs/${run_id}/approve`);
  expect((await approve(team.manager)).status).toBe(403);
  expect((await app.as(team.manager).get('/api/automations/approvals')).body.approvals).toMatchObject([{ can_decide: false }]);
});

/** Keeps every comment from being written while `work` runs, which begins when one stands still. */
async function whileCommenting<T>(work: () => Promise<T>): Promise<T> {
  await still.hold('comment', '');
  try {
    await buildTask(app, team, project);
    await until(async () => (await still.standing()) === 1);
    return await work();
  } finally {
    await still.release();
  }
}
/** Deletes an automation, which waits for the step that is just being done. Returns the end of that. */
async function deleteBehind({ automation_id }: { automation_id: string }): Promise<{ ended: Promise<{ status: number }> }> {
  const ended = app.as(team.manager).delete(`/api/automations/${automation_id}`);
  await until(async () => (await lockWaiters(db())) > 0);
  return { ended };
}

it('an invented event does not prevent a start, whatever task it names', async () => {
  const automation = await buildAutomation(app, team, { actions: [setStatus('done')], trigger_type: 'manual' });
  const call = (event: object) => app.as(team.manager).post(`/api/automations/${automation.automation_id}/execute`, { event });
  await call({ task: { task_id: 'x'.repeat(5_000) } });
  await call({ linked_task_ids: ['y'.repeat(5_000)] });
  const ended = () => db()('automation_runs').where(automation).whereNotNull('finished_at').pluck('status');
  await until(async () => (await ended()).length === 2);
  expect(await ended()).toEqual(['failed', 'failed']);
});

it('a run that was acting when its automation was deleted does not wait at the next gate', async () => {
  const actions = [setStatus('in_progress'), comment('head'), gate(), comment('never')];
  const automation = await buildAutomation(app, team, { actions });
  const deletion = await whileCommenting(() => deleteBehind(automation));
  expect((await deletion.ended).status).toBe(200);
  await runIn(automation, 'cancelled');
  expect(await db()('comments').where({ team_id: team.team_id }).pluck<string[]>('content')).toEqual(['head']);
});

it('a deletion waits for the first action of a run, which takes the run, and then cancels nothing that was done', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('head'), gate(), comment('never')] });
  const deletion = await whileCommenting(() => deleteBehind(automation));
  expect((await deletion.ended).status).toBe(200);
  const { run_id } = await runIn(automation, 'cancelled');
  expect(await buildActions({ run_id })).toEqual(['succeeded', 'skipped', 'skipped']);
});
