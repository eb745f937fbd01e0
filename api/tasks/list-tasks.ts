import { run } from '../../db/statement.js';
import { authorize, type Seat } from '../core/access.js';
import { type Context, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { type Etag, fold, weakEtag } from './etags.js';
import { listStatements, MAX_AT_ONCE, MAX_TASKS, type Scope } from './list-tasks.sql.js';
import { arrange, type TaskNode, writeTree } from './nesting.js';
import type { ListTasks } from './schema.js';
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
interface Wanted {
  scope: Scope;
  /** The project's or team's id, where the scope has one. */
  of?: string;
  status?: string | undefined;
  flat: boolean;
}

interface Place extends Record<string, unknown> {
  seat: Seat | null;
}
interface Marked extends TaskNode, Place {
  mark: string;
}
interface Complete extends Marked {
  json: string;
}

/** The place of a list says who may see it. @throws RESOURCE_NOT_FOUND no such project | PERMISSION_DENIED of another team */
function checkPlace({ scope }: Wanted, [first]: Place[]): void {
  // A team that is not the caller's is an empty list (C5).
  if (scope !== 'project') return;
  if (!first) throw notFound('Project');
  authorize('task.list', first.seat);
}

async function look<Row extends Place>(ctx: Context, wanted: Wanted, kind: 'records' | 'marks' | 'fingerprint'): Promise<Row[]> {
  const { scope, of, status = null } = wanted;
  const rows = await run<Row>(ctx.db, listStatements(scope, status)[kind], [
    userOf(ctx),
    status,
    ...(of === undefined ? [] : [of]),
  ]);
  checkPlace(wanted, rows);
  return rows;
}

/** A place without a task in it is one row without a task. */
const tasksIn = <Row extends Marked>(rows: Row[]): Row[] => rows.filter((row) => row.task_id !== null);

async function isUnchanged(ctx: Context, wanted: Wanted, isKnown: IsKnown): Promise<Etag | undefined> {
  const rows = await look<Place & { count: number; mark: string | null }>(ctx, wanted, 'fingerprint');
  const [{ count, mark } = { count: 0, mark: null }] = rows;
  const etag = weakEtag(count, BigInt(mark ?? 0));
  return isKnown(etag) ? etag : undefined;
}

/**
 * A list with its tag. The tag is taken before the records, or with them: what changes in between makes the tag of the next
 * request another one. It covers exactly the tasks that the caller sees, so losing a team changes it too.
 */
async function list(ctx: Context, wanted: Wanted, isKnown?: IsKnown): Promise<TaskList> {
  const unchanged = isKnown && (await isUnchanged(ctx, wanted, isKnown));
  if (unchanged) return { etag: unchanged, truncated: false, body: null };
  const first = tasksIn(await look<Complete>(ctx, wanted, 'records'));
  if (first.length <= MAX_AT_ONCE) {
    return { etag: weakEtag(first.length, fold(first)), truncated: false, body: writeTree(first, wanted.flat) };
  }
  const marks = tasksIn(await look<Marked>(ctx, wanted, 'marks'));
  const order = arrange(marks.slice(0, MAX_TASKS), wanted.flat);
  return {
    etag: weakEtag(marks.length, fold(marks)),
    truncated: marks.length > MAX_TASKS,
    body: streamTasks(ctx, order, first, wanted.flat),
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
