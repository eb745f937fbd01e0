import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { CycleParams } from '../../../work/cycles/schema.js';
import { readCycle } from '../../../work/cycles/read-cycle.js';
import { ProjectParams } from '../../../work/projects/schema.js';
import { countGroups } from '../../../work/saved-views/results/list-groups.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { listTasks } from '../../../work/tasks/read/list-tasks.js';
import { TASK_STATUSES, type TaskStatus } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import { page, type Page, requireUser, type View } from '../../page.js';
import { TaskFilters, toQuery, toSource } from './filters.js';
import { projectPath } from './paths.js';
import { loadProject, loadTeam } from './project.js';

/** Cards of one column; the list shows the others. */
const MAX_CARDS = 25;
/** Tasks of a cycle that are read for its board. */
const MAX_TASKS = 500;

/** A column of a board. */
export interface Column {
  status: TaskStatus;
  cards: (Pick<Task, 'task_id' | 'title' | 'status' | 'priority' | 'due_date' | 'assigned_to' | 'version'> & {
    canWrite: boolean;
  })[];
  total: number;
  /** Where the cards are that the column has no room for. */
  more: string | undefined;
}

/** Puts tasks into columns by their status. */
export function toColumns(tasks: readonly Task[], canWrite: (task: Task) => boolean): Column[] {
  return TASK_STATUSES.map((status) => {
    const here = tasks.filter((task) => task.status === status);
    const cards = here.slice(0, MAX_CARDS).map((task) => ({ ...task, canWrite: canWrite(task) }));
    return { status, cards, total: here.length, more: undefined };
  });
}

async function showProjectBoard(ctx: Context, me: User, projectId: string, given: TaskFilters): Promise<View> {
  const around = await loadProject(ctx, me, projectId);
  const filters = { ...given, show: undefined };
  const source = (show: TaskStatus | 'all') => toSource(around.project, { sort: 'priority', ...filters, show });
  const [{ groups }, ...found] = await Promise.all([
    countGroups(ctx, { ...source('all'), group_by: 'status' }),
    ...TASK_STATUSES.map((status) => listMatches(ctx, source(status), { limit: MAX_CARDS, offset: 0 })),
  ]);
  const columns = TASK_STATUSES.map((status, at): Column => {
    const cards = JSON.parse(found[at]?.body as string) as Task[];
    const total = groups.find(({ key }) => key === status)?.count ?? cards.length;
    const more = total > cards.length ? `${projectPath(projectId)}${toQuery({ ...filters, show: status })}` : undefined;
    return { status, cards: cards.map((card) => ({ ...card, canWrite: around.canWrite })), total, more };
  });
  const data = { ...around, columns, here: `${projectPath(projectId)}/board${toQuery(filters)}`, filters };
  return { view: 'projects/board', title: `Board of ${around.project.name}`, data, scripts: ['work.js'] };
}

interface Nested extends Task {
  subtasks: Nested[];
}
const flatten = (tasks: readonly Nested[]): Task[] => tasks.flatMap((task) => [task, ...flatten(task.subtasks)]);

async function showCycleBoard(ctx: Context, me: User, cycleId: string): Promise<View> {
  const cycle = await readCycle(ctx, 'cycle.read', cycleId);
  const [{ body, more }, { teamName, names, canWrite }] = await Promise.all([
    listTasks(ctx, { cycle_id: cycleId, limit: MAX_TASKS }),
    loadTeam(ctx, me, cycle.team_id),
  ]);
  if (typeof body !== 'string') throw new Error('A short list of tasks came in chunks');
  const data = {
    cycle,
    teamName,
    columns: toColumns(flatten(JSON.parse(body) as Nested[]), () => canWrite),
    isCut: more,
    names,
    here: `/app/cycles/${cycleId}/board`,
  };
  return { view: 'cycles/board', title: `Board of ${cycle.name}`, data, scripts: ['work.js'] };
}

export const boardPages: Page[] = [
  page({
    method: 'get',
    path: '/app/projects/:project_id/board',
    access: 'project.read',
    params: ProjectParams,
    query: TaskFilters,
    handle: ({ ctx, me, params, query }) => showProjectBoard(ctx, requireUser({ me }), params.project_id, query),
  }),
  page({
    method: 'get',
    path: '/app/cycles/:cycle_id/board',
    access: 'cycle.read',
    params: CycleParams,
    query: z.unknown(),
    handle: ({ ctx, me, params }) => showCycleBoard(ctx, requireUser({ me }), params.cycle_id),
  }),
];
