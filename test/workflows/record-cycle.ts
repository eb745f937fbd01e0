import type { Client } from '@temporalio/client';
import { cycleWorkflowId } from '../../workflows/contracts/cycle-contract.js';
import type { TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { until } from '../support/worker.js';
import { createCycle, insertTasks } from '../api/work/cycles/support.js';

/** Ways in which the clock of a cycle goes. */
export const CYCLE_PLAYS = ['due', 'postponed', 'by-hand', 'switched-off', 'resting', 'restarted'] as const;

interface Stage {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
  temporal: Client;
  /** Kills the worker's process; the next one is there when it resolves. */
  replaceWorker?: () => Promise<void>;
}

export const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Waits until the clock has started its n-th timer. */
export const isWaiting = (temporal: Client, cycleId: string, timers = 1) =>
  until(async () => {
    const { events = [] } = await temporal.workflow
      .getHandle(cycleWorkflowId(cycleId))
      .fetchHistory()
      .catch(() => ({ events: [] }));
    return (events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes).length >= timers;
  });

/** An active cycle of the project that a date completes, with one open task and one that is done. Its clock waits. */
export async function startedCycle({ app, team, project, temporal }: Stage): Promise<{ cycle_id: string; task_ids: string[] }> {
  const member = app.as(team.member);
  const { cycle_id } = await createCycle(member, { ...project, name: 'A secret name', end_date: dayIn(10), auto_complete: true });
  const task_ids = await insertTasks(app, team, project, [{ title: 'A secret title' }, { status: 'done' }]);
  await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids });
  await member.post(`/api/sprints/${cycle_id}/start`);
  await isWaiting(temporal, cycle_id);
  return { cycle_id, task_ids };
}

/** Plays one way of a cycle. Returns the id of its workflow, which has ended. */
export async function playCycle(stage: Stage, play: string): Promise<string> {
  const { app, team, project, temporal } = stage;
  const member = app.as(team.member);
  const { cycle_id, task_ids } = await startedCycle(stage);
  const workflowId = cycleWorkflowId(cycle_id);
  const change = (body: Record<string, unknown>) => member.patch(`/api/sprints/${cycle_id}`, body);
  if (play === 'by-hand') await member.post(`/api/sprints/${cycle_id}/complete`, {});
  if (play === 'switched-off') await change({ auto_complete: false });
  if (play === 'restarted') {
    await temporal.workflow.getHandle(workflowId).terminate('lost');
    await change({ end_date: dayIn(20) });
    await until(async () => (await temporal.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING');
    await isWaiting(temporal, cycle_id);
  }
  if (play === 'postponed') {
    await change({ end_date: dayIn(40) });
    await isWaiting(temporal, cycle_id, 2);
  }
  if (play === 'worker-killed') {
    // The completion waits for a task until its worker dies.
    const { db } = app.services;
    const lock = await db.transaction();
    await lock('tasks').whereIn('task_id', task_ids).forUpdate();
    await change({ end_date: dayIn(-1) });
    await until(async () => (await lockWaiters(db)) > 0);
    await stage.replaceWorker?.();
    await lock.rollback();
  } else if (play === 'resting') {
    await member.delete(`/api/projects/${project.project_id}`);
    const { db } = app.services;
    await db('cycles')
      .where({ cycle_id })
      .update({ end_date: dayIn(-1) });
    await isWaiting(temporal, cycle_id, 2);
    await member.post(`/api/trash/project/${project.project_id}/restore`);
    await temporal.workflow.getHandle(workflowId).signal('datesChanged');
  } else if (play !== 'by-hand' && play !== 'switched-off') await change({ end_date: dayIn(-1) });
  await temporal.workflow.getHandle(workflowId).result();
  return workflowId;
}
