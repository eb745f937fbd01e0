import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { type Etag, weakEtag } from './etags.js';
import { type TaskColumns, recordsOf, tasksOf, writeRecords } from './task-columns.js';
import { listStatements, MAX_AT_ONCE, MAX_TASKS, type Scope } from './list-tasks.sql.js';
import { arrange } from './nesting.js';
import type { ListTasks } from '../schema.js';
import { streamTasks } from './stream-tasks.js';

/** Tells whether the client has the answer with this tag already. */
export type IsKnown = (etag: Etag) => boolean;

export interface TaskList {
  etag: Etag;
  truncated: boolean;
  /** A JSON array, whole or in pieces; null where the client has it. */
  body: string | AsyncIterable<string> | null;
}

/** Which list: of what, and how it is shown. */
interface TaskListQuery {
  scope: Scope;
  /** The project's or team's id, where the scope has one. */
  of?: string;
  status?: string | undefined;
  flat: boolean;
}

interface ListAccess extends Record<string, unknown> {
  seat: Seat | null;
}
/** As a list without a place is: empty. */
const NOTHING: TaskColumns = { count: 0, mark: null, ids: null, parents: null, marks: null, records: null };

/** The place of a list says who may see it. @throws RESOURCE_NOT_FOUND no such project | PERMISSION_DENIED of another team */
function checkPlace({ scope }: TaskListQuery, place: ListAccess | undefined): void {
  // A team that is not the caller's is an empty list (C5).
  if (scope !== 'project') return;
  if (!place) throw notFound('Project');
  authorize('task.list', place.seat);
}

async function look(ctx: Context, wanted: TaskListQuery, kind: 'records' | 'marks' | 'fingerprint'): Promise<TaskColumns> {
  const { scope, of, status = null } = wanted;
  const values = [userOf(ctx), status, ...(of === undefined ? [] : [of])];
  const [found] = await run<ListAccess & TaskColumns>(ctx.db, listStatements(scope, status)[kind], values);
  checkPlace(wanted, found);
  return found ?? NOTHING;
}

const etagOf = ({ count, mark }: TaskColumns): Etag => weakEtag(count, BigInt(mark ?? 0));

async function isUnchanged(ctx: Context, wanted: TaskListQuery, isKnown: IsKnown): Promise<Etag | undefined> {
  const etag = etagOf(await look(ctx, wanted, 'fingerprint'));
  return isKnown(etag) ? etag : undefined;
}

/**
 * A list with its tag. The tag is taken before the records, or with them: what changes in between makes the tag of the next
 * request another one. It covers exactly the tasks that the caller sees, so losing a team changes it too.
 */
async function list(ctx: Context, wanted: TaskListQuery, isKnown?: IsKnown): Promise<TaskList> {
  const unchanged = isKnown && (await isUnchanged(ctx, wanted, isKnown));
  if (unchanged) return { etag: unchanged, truncated: false, body: null };
  const first = await look(ctx, wanted, 'records');
  if (first.count <= MAX_AT_ONCE) return { etag: etagOf(first), truncated: false, body: writeRecords(first, wanted.flat) };
  const all = await look(ctx, wanted, 'marks');
  const order = arrange(tasksOf(all).slice(0, MAX_TASKS), wanted.flat);
  return {
    etag: etagOf(all),
    truncated: all.count > MAX_TASKS,
    body: streamTasks(ctx, order, recordsOf(first), wanted.flat),
  };
}

/**
 * Live tasks with their subtasks nested, as JSON text; above 1,000 in pieces. A foreign `team_id` gives an empty list (C5).
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 * Source: contract, section 4, tasks.
 */
export function listTasks(ctx: Context, { project_id, team_id, status }: ListTasks, isKnown?: IsKnown): Promise<TaskList> {
  if (project_id !== undefined) return list(ctx, { scope: 'project', of: project_id, status, flat: false }, isKnown);
  if (team_id !== undefined) return list(ctx, { scope: 'team', of: team_id, status, flat: false }, isKnown);
  return list(ctx, { scope: 'visible', status, flat: false }, isKnown);
}

/** Live tasks assigned to the caller, flat (C1). */
export const listMyTasks = (ctx: Context, isKnown?: IsKnown): Promise<TaskList> =>
  list(ctx, { scope: 'mine', flat: true }, isKnown);
