import type { Client } from '@temporalio/client';
import { bulkWorkflowId } from '../../workflows/contracts/bulk-contract.js';
import { requestExport } from '../api/bulk/support.js';
import { buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { until } from '../support/worker.js';

/** Ways in which an export goes. */
export const EXPORT_PLAYS = ['written', 'watched', 'cancelled', 'worker-killed'] as const;

interface Stage {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  temporal: Client;
  /** Kills the worker's process; the next one is there when it resolves. */
  replaceWorker: () => Promise<void>;
}

/** Plays one way of an export. Returns the id of its workflow, which has ended. */
export async function playExport({ app, team, project, temporal, replaceWorker }: Stage, play: string): Promise<string> {
  await buildTask(app, team, project, { title: 'A secret title' });
  const { db } = app.services;
  const hold = await db.transaction();
  if (play !== 'written') await hold.raw('lock table automations in access exclusive mode');
  const job_id = await requestExport(app, team.manager, { team_id: team.team_id });
  const handle = temporal.workflow.getHandle(bulkWorkflowId(job_id));
  if (play !== 'written') {
    await until(async () => (await lockWaiters(db)) > 0);
    // The second timer: the progress was shown once.
    const timers = async () => {
      const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
      return (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length;
    };
    await until(async () => (await timers()) > 1);
    if (play === 'worker-killed') await replaceWorker();
    if (play === 'cancelled') await app.as(team.manager).post(`/api/bulk/jobs/${job_id}/cancel`);
  }
  await hold.rollback();
  await until(() => handle.describe().catch(() => undefined));
  await handle.result();
  return bulkWorkflowId(job_id);
}
