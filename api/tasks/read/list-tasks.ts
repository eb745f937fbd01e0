import { run } from '../../../db/statement.js';
import { resolveFilters, type FieldFilter } from '../../custom-fields/filter.js';
import { authorize, rolesFor, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import type { Etag } from '../../endpoint/etags.js';
import { weakEtag } from './etags.js';
import { type TaskColumns, recordsOf, tasksOf, writeRecords } from './task-columns.js';
import { filteredCall, type ListKind } from './list-filtered-tasks.sql.js';
import { listStatements, MAX_AT_ONCE, MAX_TASKS, type Scope } from './list-tasks.sql.js';
import { arrange } from './nesting.js';
import type { ListTasks } from '../schema.js';
import { streamTasks } from './stream-tasks.js';

/** Returns whether the client already has the response with this tag. */
export type IsKnown = (etag: Etag) => boolean;

export interface TaskList {
  etag: Etag;
  truncated: boolean;
  /** A JSON array, whole or in chunks; null if the client already has it. */
  body: string | AsyncIterable<string> | null;
}

/** Scope and form of a list. */
interface TaskListQuery {
  scope: Scope;
  /** Id of the project, team or cycle, if the scope has one; of a cycle, also the project and the team, or null. */
  of?: (string | null)[];
  status?: string | undefined;
  flat: boolean;
  /** Whether records have the values of their custom fields. */
  withFields?: boolean;
  /** Filters by custom fields; none by default. */
  filters?: FieldFilter[];
}

interface ListAccess extends Record<string, unknown> {
  seat: Seat | null;
}
/** Result for an unknown project or team: an empty list. */
const EMPTY: TaskColumns = { count: 0, mark: null, ids: null, parents: null, marks: null, records: null };

/**
 * Checks access to a list's project or cycle.
 * @throws RESOURCE_NOT_FOUND no such project or cycle | PERMISSION_DENIED of another team
 */
function checkPlace({ scope }: TaskListQuery, place: ListAccess | undefined): void {
  // Another team's list is empty rather than forbidden (docs/decisions.md#foreign-filters).
  if (scope !== 'project' && scope !== 'cycle') return;
  if (!place) throw notFound(scope === 'project' ? 'Project' : 'Cycle');
  authorize('task.list', place.seat);
}

async function query(ctx: Context, request: TaskListQuery, kind: ListKind): Promise<TaskColumns> {
  const { scope, of, status = null, withFields = false, filters = [] } = request;
  const given = [userOf(ctx), status, rolesFor('task.list'), ...(of ?? [])];
  const { statement, values } =
    filters.length > 0
      ? filteredCall(scope, given, filters, kind, withFields)
      : { statement: listStatements(scope, status, withFields)[kind], values: given };
  const [found] = await run<ListAccess & TaskColumns>(ctx.db, statement, values);
  checkPlace(request, found);
  return found ?? EMPTY;
}

const etagOf = ({ count, mark }: TaskColumns): Etag => weakEtag(count, BigInt(mark ?? 0));

async function isUnchanged(ctx: Context, request: TaskListQuery, isKnown: IsKnown): Promise<Etag | undefined> {
  const etag = etagOf(await query(ctx, request, 'fingerprint'));
  return isKnown(etag) ? etag : undefined;
}

/**
 * Returns a list with its tag. The tag is read before the records or with them, so a change in between alters the next request's
 * tag. It covers exactly the tasks that the caller can see, so losing a team changes it too.
 */
async function list(ctx: Context, request: TaskListQuery, isKnown?: IsKnown): Promise<TaskList> {
  const unchanged = isKnown && (await isUnchanged(ctx, request, isKnown));
  if (unchanged) return { etag: unchanged, truncated: false, body: null };
  const first = await query(ctx, request, 'records');
  if (first.count <= MAX_AT_ONCE) return { etag: etagOf(first), truncated: false, body: writeRecords(first, request.flat) };
  const all = await query(ctx, request, 'marks');
  const order = arrange(tasksOf(all).slice(0, MAX_TASKS), request.flat);
  return {
    etag: etagOf(all),
    truncated: all.count > MAX_TASKS,
    body: streamTasks(ctx, order, recordsOf(first), request),
  };
}

/**
 * Lists live tasks with nested subtasks as JSON text, in chunks above 1,000 tasks. Another team's `team_id` returns an empty
 * list, as does a custom field that the teams do not have.
 * @throws RESOURCE_NOT_FOUND unknown project or cycle | PERMISSION_DENIED a project or cycle of another team
 */
export async function listTasks(ctx: Context, options: ListTasks, isKnown?: IsKnown): Promise<TaskList> {
  const { project_id, team_id, cycle_id, status, include, custom_field = [] } = options;
  const filters = await resolveFilters(ctx, 'task', custom_field);
  const form = { status, flat: false, withFields: include === 'custom_fields', filters };
  if (cycle_id !== undefined) {
    return list(ctx, { scope: 'cycle', of: [cycle_id, project_id ?? null, team_id ?? null], ...form }, isKnown);
  }
  if (project_id !== undefined) return list(ctx, { scope: 'project', of: [project_id], ...form }, isKnown);
  if (team_id !== undefined) return list(ctx, { scope: 'team', of: [team_id], ...form }, isKnown);
  return list(ctx, { scope: 'visible', ...form }, isKnown);
}

/** Lists the live tasks assigned to the caller, without nesting. */
export const listMyTasks = (ctx: Context, isKnown?: IsKnown): Promise<TaskList> =>
  list(ctx, { scope: 'mine', flat: true }, isKnown);
