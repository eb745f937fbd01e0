import type { Client } from '@temporalio/client';
import { runnerJobWorkflowId } from '../../workflows/contracts/runner-contract.js';
import type { TestTeam } from '../factories/people.js';
import { buildRunner, queueJob } from '../factories/runners.js';
import type { TestApp } from '../support/app.js';
import { until } from '../support/worker.js';

/** Ways in which a job of a runner goes. */
export const JOB_PLAYS = ['completed', 'lost', 'cancelled', 'renewed', 'worker-killed'] as const;
/** Short leases. */
export const JOB_SETTINGS = { RUNNER_LEASE_SECONDS: '2', RUNNER_CANCEL_SECONDS: '1' };

interface Stage {
  app: TestApp;
  team: TestTeam;
  temporal: Client;
  /** Kills the worker's process; the next one is there when it resolves. */
  replaceWorker?: () => Promise<void>;
}

/** Waits until the workflow of a job has started its n-th timer. */
const isWaiting = (temporal: Client, workflowId: string, timers: number) =>
  until(async () => {
    const { events = [] } = await temporal.workflow
      .getHandle(workflowId)
      .fetchHistory()
      .catch(() => ({ events: [] }));
    return (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length >= timers;
  });

/** Plays one way of a job. Returns the id of its workflow, which has ended. */
export async function playJob({ app, team, temporal, replaceWorker }: Stage, play: string): Promise<string> {
  const runner = await buildRunner(app, team);
  const job_id = await queueJob(app, team);
  const workflowId = runnerJobWorkflowId(job_id);
  await isWaiting(temporal, workflowId, 1);
  const report = (route: string, body: unknown = {}) => runner.calls.post(`/api/runners/jobs/${job_id}/${route}`, body);
  if (play === 'cancelled') await app.as(team.manager).post(`/api/runners/jobs/${job_id}/cancel`);
  else {
    await runner.calls.post('/api/runners/claim', { wait_seconds: 0 });
    await isWaiting(temporal, workflowId, 2);
  }
  if (play === 'worker-killed') await replaceWorker?.();
  if (play === 'renewed') {
    // The timer of the first lease comes, and finds the next.
    await report('heartbeat');
    await app.services
      .db('runner_jobs')
      .where({ job_id })
      .update({ lease_until: app.services.db.raw("now() + interval '1 hour'") });
    await isWaiting(temporal, workflowId, 3);
  }
  if (play === 'completed' || play === 'renewed') await report('complete', { status: 'failed', exit_code: 2 });
  await temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}
