import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { ClampedInt, Text } from '../../../platform/fields.js';
import { MAX_ADDED } from '../../../work/cycles/rules.js';
import type { Cycle } from '../../../work/cycles/schema.js';
import { listMatches } from '../../../work/saved-views/results/list-results.js';
import { VIEWER, type ViewFilters } from '../../../work/saved-views/schema.js';
import { NONE } from '../../../work/tasks/filters.js';
import { TASK_PRIORITIES, TASK_STATUSES } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import { listTargets } from '../projects/place-choices.js';

/** Tasks of one page of the backlog: no more than one form may add. */
const ROWS = Math.min(50, MAX_ADDED);
const OPEN = TASK_STATUSES.filter((status) => status !== 'done');

/** An empty field, and one that holds nonsense, filters nothing. */
const lenient = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional()).catch(undefined);

/** What the backlog is narrowed by, as its form sends it. */
export const BacklogQuery = z.object({
  q: lenient(Text.trim().max(200)),
  project_id: lenient(z.uuid()),
  assigned_to: lenient(z.union([z.enum([VIEWER, NONE]), z.uuid()])),
  priority: lenient(z.enum(TASK_PRIORITIES)),
  offset: ClampedInt(0, 10_000, 0).catch(0),
});
export type BacklogQuery = z.output<typeof BacklogQuery>;

/** Returns the query of an address with these filters: empty, or with its question mark. */
function toQuery({ offset, ...given }: BacklogQuery): string {
  const entries = Object.entries({ ...given, offset: offset > 0 ? String(offset) : undefined });
  const query = String(new URLSearchParams(entries.filter((entry): entry is [string, string] => entry[1] !== undefined)));
  return query === '' ? '' : `?${query}`;
}

/** Returns what a list of the backlog looks up: open tasks without a cycle that the cycle may hold, the most urgent first, of these the oldest. */
function toSource({ team_id, project_id }: Cycle, { q, assigned_to, priority, project_id: wanted }: BacklogQuery) {
  const project = project_id ?? wanted;
  const filters: ViewFilters = {
    status: OPEN,
    cycle_id: [NONE],
    ...(project !== undefined && { project_id: [project] }),
    ...(assigned_to !== undefined && { assigned_to: [assigned_to] }),
    ...(priority !== undefined && { priority: [priority] }),
    ...(q !== undefined && { q }),
  };
  const sort = [
    { field: 'priority', direction: 'desc' as const },
    { field: 'created_at', direction: 'asc' as const },
  ];
  return { entity_type: 'task' as const, team_id, filters, sort, group_by: null };
}

/** Loads the page of the backlog that a cycle may be filled from. `base`: path of the cycle. */
export async function loadBacklog(ctx: Context, cycle: Cycle, query: BacklogQuery, base: string) {
  const { offset } = query;
  const [{ body, count, more }, projects] = await Promise.all([
    listMatches(ctx, toSource(cycle, query), { limit: ROWS, offset }),
    listTargets(ctx, cycle.team_id),
  ]);
  const tasks = (JSON.parse(body as string) as Task[]).filter(({ is_archived }) => !is_archived);
  const at = (offset: number) => `${base}${toQuery({ ...query, offset })}#h-add`;
  return {
    tasks,
    projects: cycle.project_id === null ? projects : [],
    projectNames: Object.fromEntries(projects.map(({ project_id, name }) => [project_id, name])),
    filters: query,
    isFiltered: toQuery({ ...query, offset: 0 }) !== '',
    here: `${base}${toQuery(query)}`,
    previous: offset > 0 ? at(Math.max(0, offset - ROWS)) : undefined,
    next: more ? at(offset + count) : undefined,
  };
}

/** Who the backlog may be narrowed to. */
export const backlogPeople = (me: User, members: readonly { user_id: string; display_name: string }[]): [string, string][] => [
  [VIEWER, 'Me'],
  [NONE, 'Nobody'],
  ...members
    .filter(({ user_id }) => user_id !== me.user_id)
    .map(({ user_id, display_name }): [string, string] => [user_id, display_name]),
];
