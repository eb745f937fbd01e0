import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { Text } from '../../../platform/fields.js';
import { CycleParams } from '../../../work/cycles/schema.js';
import { readCycle } from '../../../work/cycles/read-cycle.js';
import { getProject } from '../../../work/projects/get-project.js';
import { ProjectParams, type ProjectRecord } from '../../../work/projects/schema.js';
import { NONE } from '../../../work/tasks/filters.js';
import { MANUAL_ORDER } from '../../../work/saved-views/sort-fields.js';
import type { ViewSource } from '../../../work/saved-views/results/resolve-view.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { placeInOrder } from '../../../work/tasks/order/manual-key.js';
import { listTasks } from '../../../work/tasks/read/list-tasks.js';
import { TASK_PRIORITIES, type TaskStatus } from '../../../work/tasks/rules.js';
import { type Place, type Stage, toPlaces } from '../../../work/tasks/stages/places.js';
import type { TaskRow } from '../../../work/tasks/read/task-row.js';
import type { Task } from '../../../work/tasks/schema.js';
import { type FormError, page, type Page, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { withFields } from '../filters/field-params.js';
import { filterData, projectBar } from '../filters/filter-bar.js';
import { ALL, isLeftOut, TaskFilters, toQuery, toSource } from '../filters/filters.js';
import { projectPath } from './paths.js';
import { loadProject, loadTeam } from './project.js';
import { Choice, valueOf } from './stage-choices.js';
import { countPlaces } from './stage-groups.js';
import { MAX_LINE, quickAdd } from './quick-add.js';
import { loadTaskList, writableTeams } from './task-list.js';

/** Cards of one column; the list shows the others. */
const MAX_CARDS = 50;
/** Tasks of a cycle that are read for its board. */
const MAX_TASKS = 500;

/** A column of a board: a status, or a stage within one. */
export interface Column extends Place {
  /** What a form sends for it. */
  value: Choice;
  cards: (TaskRow & { canWrite: boolean })[];
  total: number;
  /** Points of its tasks; undefined where none is estimated. */
  points: number | undefined;
  /** Where the cards are that the column has no room for. */
  more: string | undefined;
}

/** Adds up the points of tasks, without those that are canceled or duplicates. */
function sumPoints(tasks: readonly TaskRow[]): number | undefined {
  const points = tasks.flatMap(({ estimate, resolution }) => (estimate === null || resolution !== null ? [] : [estimate]));
  return points.length === 0 ? undefined : points.reduce((sum, one) => sum + one, 0);
}

/** Puts tasks into columns by their stage, or by their status if their stage has no column. */
export function toColumns(tasks: readonly TaskRow[], writes: ReadonlySet<string>, places: readonly Place[]): Column[] {
  const shown = new Set(places.map(valueOf));
  const columnOf = ({ stage_id, status }: TaskRow): Choice => (stage_id !== null && shown.has(stage_id) ? stage_id : status);
  return places.map((place) => {
    const here = tasks.filter((task) => columnOf(task) === valueOf(place));
    const cards = here.slice(0, MAX_CARDS).map((task) => ({ ...task, canWrite: writes.has(task.team_id) }));
    return { ...place, value: valueOf(place), cards, total: here.length, points: sumPoints(here), more: undefined };
  });
}

const cardsOn = (columns: readonly Column[]): Column['cards'] => columns.flatMap(({ cards }) => cards);

/** The filters of a board, whose columns are the statuses, and the stages: all of them, or those that are wanted. */
const BoardFilters = withFields(TaskFilters.omit({ show: true, group: true }));
type BoardFilters = z.output<typeof BoardFilters>;

/** A line of the board that was refused, with its column. */
interface Refused {
  problem?: FormError;
  given?: Fields;
}

/** Narrows what is looked up to a place. Without stages nothing has to be said of them. */
const within = (source: ViewSource, { stage }: Place, stages: readonly Stage[]): ViewSource =>
  stages.length === 0 ? source : { ...source, filters: { ...source.filters, stage_id: [stage?.stage_id ?? NONE] } };

async function showProjectBoard(
  ctx: Context,
  me: User,
  projectId: string,
  filters: BoardFilters,
  { problem, given = {} }: Refused = {},
): Promise<View> {
  const around = await loadProject(ctx, me, projectId);
  const { sort = MANUAL_ORDER } = filters;
  const source = (show: TaskStatus | 'all') => toSource(around.project, { ...filters, stage_id: undefined, sort, show: [show] });
  const isWanted = ({ stage }: Place) =>
    (filters.stage_id?.includes(stage?.stage_id ?? NONE) ?? true) !== isLeftOut(filters, 'stage_id');
  const places = toPlaces(around.stages).filter(isWanted);
  const [totals, ...found] = await Promise.all([
    countPlaces(ctx, source('all'), around.stages),
    ...places.map((place) =>
      listMatches(ctx, within(source(place.status), place, around.stages), { limit: MAX_CARDS, offset: 0 }),
    ),
  ]);
  const columns = places.map((place, at): Column => {
    const cards = JSON.parse(found[at]?.body as string) as Task[];
    const { count: total, points } = totals.get(valueOf(place)) ?? { count: cards.length, points: 0 };
    const more = total > cards.length ? `${projectPath(projectId)}${toQuery({ ...filters, show: [place.status] })}` : undefined;
    const shown = cards.map((card) => ({ ...card, canWrite: around.canWrite }));
    return { ...place, value: valueOf(place), cards: shown, total, points: points || undefined, more };
  });
  const query = toQuery(filters);
  const shown = filterData(filters, me, around, projectBar(MANUAL_ORDER, true));
  const { team_id } = around.project;
  const list = await loadTaskList(ctx, me, {
    tasks: cardsOn(columns),
    members: new Map([[team_id, around.members]]),
    here: `${projectPath(projectId)}/board${query}`,
  });
  const data = {
    ...around,
    columns,
    ...list,
    base: projectPath(projectId),
    query,
    ...shown,
    saves: around.canWrite && shown.isFiltered ? '/projects/save-view' : undefined,
    saveQuery: toQuery({ ...filters, sort, show: [ALL] }),
    isBoard: true,
    isManual: sort === MANUAL_ORDER,
    priorities: TASK_PRIORITIES,
    problem,
    given,
  };
  return {
    view: 'projects/board',
    title: `Board of ${around.project.name}`,
    data,
    teamId: around.project.team_id,
    scripts: ['work.js', 'mention.js'],
  };
}

interface Nested extends Task {
  subtasks: Nested[];
}
const flatten = (tasks: readonly Nested[]): Task[] => tasks.flatMap((task) => [task, ...flatten(task.subtasks)]);

async function showCycleBoard(ctx: Context, me: User, cycleId: string): Promise<View> {
  const cycle = await readCycle(ctx, 'cycle.read', cycleId);
  const here = `/app/cycles/${cycleId}/board`;
  const [{ body, more }, { teamName, names, stages, members }] = await Promise.all([
    listTasks(ctx, { cycle_id: [cycleId], limit: MAX_TASKS }),
    loadTeam(ctx, me, cycle.team_id),
  ]);
  if (typeof body !== 'string') throw new Error('A short list of tasks came in chunks');
  const tasks = flatten(JSON.parse(body) as Nested[]).toSorted((a, b) => placeInOrder(a) - placeInOrder(b));
  const columns = toColumns(tasks, writableTeams(me), toPlaces(stages));
  const data = {
    cycle,
    teamName,
    columns,
    ...(await loadTaskList(ctx, me, { tasks: cardsOn(columns), members: new Map([[cycle.team_id, members]]), here })),
    isManual: true,
    isCut: more,
    names,
    stages,
  };
  return { view: 'cycles/board', title: `Board of ${cycle.name}`, data, teamId: cycle.team_id, scripts: ['work.js'] };
}

export const boardPages: Page[] = [
  page({
    method: 'get',
    path: '/app/projects/:project_id/board',
    access: 'project.read',
    params: ProjectParams,
    query: BoardFilters,
    handle: ({ ctx, me, params, query }) => showProjectBoard(ctx, requireUser({ me }), params.project_id, query),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/board',
    access: 'task.write',
    params: ProjectParams,
    query: BoardFilters,
    form: z.object({ text: Text.max(MAX_LINE), status: Choice }),
    async handle({ ctx, me, params, query, form: { text, status } }) {
      const { team_id } = JSON.parse(await getProject(ctx, params.project_id)) as ProjectRecord;
      const { notice } = await quickAdd(ctx, requireUser({ me }), text, { team_id, ...params, status });
      return { to: `${projectPath(params.project_id)}/board${toQuery(query)}`, notice };
    },
    onError: ({ ctx, me, params, query, form }, problem) =>
      showProjectBoard(ctx, requireUser({ me }), params.project_id, query, { problem, given: form }),
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
