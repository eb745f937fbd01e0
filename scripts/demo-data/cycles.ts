import { completeCycle } from '../../api/work/cycles/completion/complete-cycle.js';
import { createCycle } from '../../api/work/cycles/create-cycle.js';
import type { Figures } from '../../api/work/cycles/schema.js';
import { startCycle } from '../../api/work/cycles/start-cycle.js';
import { addTasksToCycle } from '../../api/work/cycles/tasks/add-tasks.js';
import { createTask } from '../../api/work/tasks/write/create-task.js';
import type { Context } from '../../api/platform/context.js';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const day = (at: Date): string => at.toISOString().slice(0, 10);

interface Dates {
  name: string;
  goal: string;
  /** Days before today. */
  from: number;
  until: number;
}

/** Starts a cycle with these tasks as if its first day were today, then moves what happened to where its dates say. */
async function startedCycle(ctx: Context, project_id: string, taskIds: string[], { name, goal, from, until }: Dates) {
  const dates = { start_date: day(daysAgo(from)), end_date: day(daysAgo(until)) };
  const { cycle_id } = await createCycle(ctx, { name, goal, project_id, ...dates });
  await addTasksToCycle(ctx, cycle_id, taskIds);
  await startCycle(ctx, cycle_id);
  const at = daysAgo(from);
  await ctx.db('cycles').where({ cycle_id }).update({ created_at: at, started_at: at });
  await ctx.db('cycle_tasks').where({ cycle_id }).update({ added_at: at });
  return cycle_id;
}

/** The done tasks of a started cycle were completed one after the other, over its days. */
async function spreadCompletions({ db }: Context, cycleId: string, from: number, until: number): Promise<void> {
  const done = await db('tasks').where({ cycle_id: cycleId, status: 'done' }).orderBy('task_id').pluck<string[]>('task_id');
  for (const [at, task_id] of done.entries()) {
    const completed_at = daysAgo(from - ((at + 1) * (from - until)) / (done.length + 1));
    await db('tasks').where({ task_id }).update({ completed_at });
  }
}

/** Moves the end of a completed cycle to a day before, with its burn-down. */
async function endAt({ db }: Context, cycleId: string, at: Date): Promise<void> {
  const { snapshot } = await db('cycles').where({ cycle_id: cycleId }).first<{ snapshot: Figures }>('snapshot');
  const days = snapshot.days.filter(({ date }) => date <= day(at));
  await db('cycles')
    .where({ cycle_id: cycleId })
    .update({ completed_at: at, snapshot: JSON.stringify({ ...snapshot, days }) });
}

const FINISHED = [
  'Move the altitude filter to fixed point',
  'Calibrate the landing radar',
  'Name the abort modes',
  'Log the reason of every restart',
  'Replay the last landing in the simulator',
  'Agree on the landing checklist',
];

/** Tasks that were done before the demo began. */
async function finishedTasks(ctx: Context, project_id: string): Promise<string[]> {
  const made = [];
  for (const title of FINISHED)
    made.push(await createTask(ctx, { title, project_id, status: 'done', estimated_hours: 4, estimate: 3 }));
  return made.map(({ taskId }) => taskId);
}

/** A completed cycle of two weeks, the active one, and the next. */
export async function createCycles(ctx: Context, project_id: string): Promise<void> {
  const tasks = await ctx
    .db('tasks')
    .where({ project_id, parent_task_id: null })
    .orderBy('created_at')
    .select('task_id', 'status');
  const done = tasks.filter(({ status }) => status === 'done').map(({ task_id }) => task_id as string);
  const open = tasks.filter(({ status }) => status !== 'done').map(({ task_id }) => task_id as string);
  const finished = await finishedTasks(ctx, project_id);
  const before = { name: 'Cycle 1', goal: 'A landing that needs no luck', from: 21, until: 8 };
  const first = await startedCycle(ctx, project_id, [...finished, ...open.slice(0, 2)], before);
  await spreadCompletions(ctx, first, before.from, before.until);
  await completeCycle(ctx, first, { rollover_to: 'backlog', include_parents: false });
  await endAt(ctx, first, daysAgo(before.until));
  const now = { name: 'Cycle 2', goal: 'The computer restarts in flight', from: 6, until: -7 };
  const second = await startedCycle(ctx, project_id, [...done, ...open.slice(0, 7)], now);
  await spreadCompletions(ctx, second, now.from, 0);
  await createCycle(ctx, { name: 'Cycle 3', project_id, start_date: day(daysAgo(-8)), end_date: day(daysAgo(-21)) });
}
