import { run } from '../../../../db/statement.js';
import { resolveFilters } from '../../custom-fields/filter.js';
import { authorize, rolesFor, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { normaliseDate } from '../../../platform/dates.js';
import { notFound } from '../../../platform/errors.js';
import type { Etag } from '../../../platform/endpoint/etags.js';
import { unknownCursor } from '../../../platform/endpoint/pages.js';
import { weakEtag } from './etags.js';
import {
  splitLines,
  type ListedTask,
  MAX_ESCAPE,
  type TaskColumns,
  toRecords,
  toTasks,
  withinBytes,
  withoutLast,
  writeRecords,
} from './task-columns.js';
import { filteredCall, type ListKind, type Narrowing, type TaskCursor, taskCursorStatement } from './list-filtered-tasks.sql.js';
import { escapesStatement, listStatements, MAX_AT_ONCE, MAX_TASKS, type Scope } from './list-tasks.sql.js';
import { arrange } from './nesting.js';
import { CALLER, NONE } from '../filters.js';
import type { ListMyTasks, ListTasks } from '../schema.js';
import { streamTasks } from './stream-tasks.js';

/** Returns whether the client already has the response with this tag. */
export type IsKnown = (etag: Etag) => boolean;

export interface TaskList {
  etag: Etag;
  /** Whether tasks follow: beyond the limit of the page, or beyond that of every list. */
  more: boolean;
  truncated: boolean;
  /** Number of tasks, and the last of them in the order of the list. */
  count: number;
  last?: string | undefined;
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
  /** Further filters and the limits of a page; none for a list as the contract has it, which keeps its prepared statements. */
  narrowing?: Narrowing | null;
}

interface ListAccess extends Record<string, unknown> {
  seat: Seat | null;
}
/** Result for an unknown project or team: an empty list. */
const EMPTY: TaskColumns = { count: 0, mark: null, ids: null, parents: null, marks: null, read: 0 };

/**
 * Checks access to a list's project or cycle.
 * @throws RESOURCE_NOT_FOUND no such project or cycle | PERMISSION_DENIED of another team
 */
function checkPlace({ scope }: TaskListQuery, place: ListAccess | undefined): void {
  // Another team's list is empty rather than forbidden (docs/decisions/platform.md#foreign-filters).
  if (scope !== 'project' && scope !== 'cycle') return;
  if (!place) throw notFound(scope === 'project' ? 'Project' : 'Cycle');
  authorize('task.list', place.seat);
}

async function query(ctx: Context, request: TaskListQuery, kind: ListKind): Promise<TaskColumns> {
  const { scope, of, status = null, withFields = false, narrowing } = request;
  const given = [requireUser(ctx), status, rolesFor('task.list'), ...(of ?? [])];
  const { statement, values } = narrowing
    ? filteredCall(scope, given, narrowing, kind, withFields)
    : { statement: listStatements(scope, status, withFields)[kind], values: given };
  const [found] = await run<ListAccess & TaskColumns>(ctx.db, statement, values);
  checkPlace(request, found);
  return found ?? EMPTY;
}

const buildEtag = ({ count, mark }: TaskColumns): Etag => weakEtag(count, BigInt(mark ?? 0));

async function isUnchanged(ctx: Context, request: TaskListQuery, isKnown: IsKnown): Promise<Etag | undefined> {
  const etag = buildEtag(await query(ctx, request, 'fingerprint'));
  return isKnown(etag) ? etag : undefined;
}

/**
 * Returns a list with its tag. The tag is read before the records or with them, so a change in between alters the next request's
 * tag. It covers exactly the tasks that the caller can see, and the one that follows, so losing a team changes it too.
 */
async function list(ctx: Context, request: TaskListQuery, isKnown?: IsKnown): Promise<TaskList> {
  const unchanged = isKnown && (await isUnchanged(ctx, request, isKnown));
  if (unchanged) return { etag: unchanged, more: false, truncated: false, count: 0, body: null };
  const maxRows = request.narrowing?.maxRows ?? MAX_TASKS;
  const first = await query(ctx, request, 'records');
  const isWhole = first.count <= Math.min(maxRows, MAX_AT_ONCE);
  const shown = isWhole ? first : withoutLast(first);
  if ((first.read ?? 0) >= shown.count && (isWhole || maxRows <= MAX_AT_ONCE)) {
    const body = writeRecords(shown, request.flat);
    const page = { etag: buildEtag(first), more: !isWhole, truncated: false, count: shown.count };
    if (isWithin(body, ctx.config.LIST_MAX_BYTES)) return { ...page, last: splitLines(shown.ids).at(-1), body };
  }
  const all = await query(ctx, request, 'marks');
  const tasks = await listShown(ctx, all, maxRows);
  return {
    etag: buildEtag(all),
    more: all.count > tasks.length,
    truncated: tasks.length < Math.min(all.count, request.narrowing?.limit ?? Infinity),
    count: tasks.length,
    last: tasks.at(-1)?.task_id,
    body: streamTasks(ctx, arrange(tasks, request.flat), toRecords(first), request),
  };
}

/** Returns the tasks of a list that the response has bytes for. What JSON escapes is counted where it could decide. */
async function listShown(
  { db, config: { LIST_MAX_BYTES: maxBytes } }: Context,
  all: TaskColumns,
  maxRows: number,
): Promise<ListedTask[]> {
  const tasks = withinBytes(toTasks(all).slice(0, maxRows), maxBytes);
  const bytes = tasks.reduce((total, task) => total + task.bytes, 0);
  if (bytes + (all.texts ?? 0) * (MAX_ESCAPE - 1) < maxBytes) return tasks;
  const [found] = await run<{ escapes: string | null }>(db, escapesStatement, [tasks.map(({ task_id }) => task_id)]);
  splitLines(found?.escapes).forEach((escapes, at) => ((tasks[at] as ListedTask).bytes += Number(escapes)));
  return withinBytes(tasks, maxBytes);
}

/** Counts bytes only where the number of characters does not tell. */
const isWithin = (text: string, maxBytes: number): boolean => text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;

/** Reads the place of the task after which a list goes on. @throws VALIDATION_ERROR not a task of the caller's teams */
async function readCursor(ctx: Context, taskId: string): Promise<TaskCursor> {
  const [cursor] = await run<TaskCursor>(ctx.db, taskCursorStatement, [taskId, requireUser(ctx), rolesFor('task.list')]);
  if (!cursor) throw unknownCursor();
  return cursor;
}

/** Where a list begins: one project or cycle, which must be readable, or all that is visible. What is left is a filter. */
function placeOf(options: Partial<ListTasks>): Pick<TaskListQuery, 'scope' | 'of'> & { rest: Partial<ListTasks> } {
  const { project_id, cycle_id, team_id } = options;
  const [project, cycle] = [project_id, cycle_id].map((ids) => (ids?.length === 1 && ids[0] !== NONE ? ids[0] : undefined));
  if (cycle !== undefined) {
    const rest = { ...options, cycle_id: undefined, ...(project !== undefined && { project_id: undefined }) };
    return { scope: 'cycle', of: [cycle, project ?? null, project_id ? null : (team_id ?? null)], rest };
  }
  if (project !== undefined) return { scope: 'project', of: [project], rest: { ...options, project_id: undefined } };
  if (project_id === undefined && team_id !== undefined) return { scope: 'team', of: [team_id], rest: options };
  return { scope: 'visible', rest: options };
}

/** Resolves what narrows a list; null if nothing does. */
async function resolveNarrowing(ctx: Context, options: Partial<ListTasks>): Promise<Narrowing | null> {
  const { custom_field = [], not_custom_field = [], limit, before, team_id: _place, include: _form, ...filters } = options;
  const given = [limit, before, ...Object.values(filters)];
  if (custom_field.length + not_custom_field.length === 0 && given.every((value) => value === undefined)) return null;
  const date = (text: string | undefined) => (text === undefined ? undefined : (normaliseDate(text) ?? undefined));
  const people = (ids: string[] | undefined) => ids?.map((id) => (id === CALLER ? requireUser(ctx) : id));
  const { tag: tags, not_tag: not_tags, ...others } = filters;
  const fields = await resolveFilters(ctx, 'task', [...custom_field, ...not_custom_field]);
  return {
    filters: {
      ...others,
      tags,
      not_tags,
      assigned_to: people(filters.assigned_to),
      not_assigned_to: people(filters.not_assigned_to),
      created_by: people(filters.created_by),
      not_created_by: people(filters.not_created_by),
      due_before: date(filters.due_before),
      due_after: date(filters.due_after),
    },
    fields: fields.slice(0, custom_field.length),
    notFields: fields.slice(custom_field.length),
    after: before === undefined ? null : await readCursor(ctx, before),
    limit,
    maxRows: limit ?? MAX_TASKS,
  };
}

/**
 * Lists live tasks with nested subtasks as JSON text, in chunks above 1,000 tasks. Another team's `team_id` returns an empty
 * list, as does a custom field that the teams do not have; of several projects or cycles, those of other teams find nothing.
 * @throws RESOURCE_NOT_FOUND unknown project or cycle | PERMISSION_DENIED a project or cycle of another team | VALIDATION_ERROR a cursor that
 * is no task of the caller's teams
 */
export async function listTasks(ctx: Context, options: Partial<ListTasks>, isKnown?: IsKnown): Promise<TaskList> {
  const { rest, ...place } = placeOf(options);
  const [status, ...others] = rest.status ?? [];
  // Lists of one status have statements of their own.
  const own = others.length === 0 ? { status, filters: { ...rest, status: undefined } } : { status: undefined, filters: rest };
  const narrowing = await resolveNarrowing(ctx, own.filters);
  const withFields = options.include === 'custom_fields';
  return list(ctx, { ...place, status: own.status, flat: false, withFields, narrowing }, isKnown);
}

/** Lists the live tasks assigned to the caller, without nesting. @throws VALIDATION_ERROR a cursor that is no task of the caller's teams */
export async function listMyTasks(ctx: Context, options: ListMyTasks, isKnown?: IsKnown): Promise<TaskList> {
  return list(ctx, { scope: 'mine', flat: true, narrowing: await resolveNarrowing(ctx, options) }, isKnown);
}
