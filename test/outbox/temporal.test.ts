/** The relay against a real Temporal: requests and responses get lost, and every started run executes once. */
import type { Dispatch } from '../../activities/runs/automation-runs.js';
import { startTemporalConnection, type TemporalLink } from '../../activities/worker/temporal-connection.js';
import { performAction } from '../../api/automation/runs/execution/perform-action.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { quietRuntime, queuePrefix, untilRunIs } from '../support/worker.js';
import { type KillableRelay, makeDue, openRelay, replay, rounds } from './support.js';

let app: TestApp;
let link: TemporalLink;
let team: TestTeam;
let project: { project_id: string };
const relays: KillableRelay[] = [];

/** The worker without its relay: each test drives relays of its own, pass by pass. */
beforeAll(async () => {
  quietRuntime();
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  await new Promise<void>((resolve) => {
    link = startTemporalConnection(app.services, { onPolling: resolve, localActivitySlots: 8 });
  });
});
afterAll(async () => {
  await link.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await db()('automations').update({ is_active: false });
  await db()('outbox').delete();
});

const db = () => app.services.db;
const real = (row: Dispatch): Promise<void> => {
  const [runs] = link.dispatchers();
  if (!runs) throw new Error('not linked');
  return runs.dispatch(row as never, app.services);
};
const open = (dispatch: (row: Dispatch) => Promise<void> = real): KillableRelay => {
  const relay = openRelay(app, dispatch);
  relays.push(relay);
  return relay;
};
const answerLost = async (row: Dispatch): Promise<void> => {
  await real(row);
  throw new Error('the answer was lost');
};
const findRun = (automation: { automation_id: string }) => db()('automation_runs').where(automation).first();
const runIn = (automation: { automation_id: string }, ...statuses: string[]) => untilRunIs(app, automation, ...statuses);
const commentsOn = (task: { task_id: string }) =>
  db()('comments').where({ task_id: task.task_id }).orderBy('created_at').pluck<string[]>('content');
const executions = async (run: { run_id: string }): Promise<number> => {
  let count = 0;
  for await (const _each of link.client()?.workflow.list({ query: `WorkflowId = "run:${run.run_id}"` }) ?? []) count += 1;
  return count;
};
const approve = (run: { run_id: string }) => app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
/** A run with an action before and one behind its gate, which it has reached. */
async function paused() {
  const automation = await buildAutomation(app, team, { actions: [comment('head'), gate(), comment('tail')] });
  const task = await buildTask(app, team, project);
  await open().drain();
  return { automation, task, run: await runIn(automation, 'paused') };
}

it(
  'started, but the answer was lost: started again, it is the same execution',
  rounds(async () => {
    const automation = await buildAutomation(app, team, { actions: [comment('once')] });
    const task = await buildTask(app, team, project);
    await open(answerLost).drain();
    await makeDue(app);
    await open().drain();
    const run = await runIn(automation, 'succeeded');
    expect(await commentsOn(task)).toEqual(['once']);
    // Also when the first execution has ended by then.
    await replay(app, 'run.start', run);
    await open().drain();
    expect(await db()('outbox')).toEqual([]);
    expect(await executions(run)).toBe(1);
    expect(await commentsOn(task)).toEqual(['once']);
    await db()('automations').update({ is_active: false });
  }),
);

it(
  'the wake of a decision was lost or told twice: the tail runs once',
  rounds(async () => {
    const { automation, task, run } = await paused();
    expect((await approve(run)).status).toBe(200);
    await open(() => Promise.reject(new Error('lost on the way'))).drain();
    expect(await commentsOn(task)).toEqual(['head']);
    await makeDue(app);
    await open(answerLost).drain();
    await makeDue(app);
    await open().drain();
    await runIn(automation, 'succeeded');
    expect(await db()('outbox').where({ kind: 'run.wake' })).toEqual([]);
    expect(await commentsOn(task)).toEqual(['head', 'tail']);
    await db()('automations').update({ is_active: false });
  }),
);

it(
  'an order replayed by an operator has no second effect, whatever it asks for',
  rounds(async () => {
    const { automation, task, run } = await paused();
    await approve(run);
    await open().drain();
    await runIn(automation, 'succeeded');
    await replay(app, 'run.start', run);
    await replay(app, 'run.start', run, { incarnation: 2 });
    await replay(app, 'run.wake', run, { gate_index: 1 });
    await replay(app, 'run.wake', run, { incarnation: 3, gate_index: 1 });
    await open().drain();
    expect(await db()('outbox')).toEqual([]);
    for await (const { workflowId, runId } of link.client()?.workflow.list({ query: `WorkflowId = "run:${run.run_id}"` }) ?? [])
      await link.client()?.workflow.getHandle(workflowId, runId).result();
    expect(await commentsOn(task)).toEqual(['head', 'tail']);
    expect(await findRun(automation)).toMatchObject({ status: 'succeeded', finished_at: run.finished_at ?? expect.any(Date) });
    await db()('automations').update({ is_active: false });
  }, 2),
);

it('after a lost response the same execution gets it again, and another finds nothing to do', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('one'), comment('two')] });
  const task = await buildTask(app, team, project);
  await openRelay(app).drain();
  const { run_id } = await findRun(automation);
  const ask = (index: number, execution: string, incarnation = 1) =>
    performAction(app.services, { runId: run_id, incarnation, execution }, index);
  const answers = await Promise.all(['one', 'two', 'one', 'three'].map((execution) => ask(0, execution)));
  const winner = (await findRun(automation)).claimed_by as string;
  expect(answers.filter(({ ended }) => ended === undefined)).toHaveLength(winner === 'one' ? 2 : 1);
  expect(await ask(0, winner)).toEqual({ outcome: 'succeeded' });
  expect(await ask(1, winner, 2)).toMatchObject({ ended: null });
  expect(await commentsOn(task)).toEqual(['one']);
  // The last one ends the run with it, and says so as often as it is asked.
  for (let n = 0; n < 3; n += 1) expect(await ask(1, winner)).toEqual({ outcome: 'succeeded', ended: 'succeeded' });
  expect(await ask(1, 'four')).toMatchObject({ ended: null });
  expect(await findRun(automation)).toMatchObject({ status: 'succeeded' });
  expect(await commentsOn(task)).toEqual(['one', 'two']);
});
