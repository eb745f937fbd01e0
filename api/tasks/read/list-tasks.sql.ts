import type { Statement } from '../../../db/statement.js';

/** Which tasks a list is about. */
export type Scope = 'project' | 'team' | 'visible' | 'mine';

/** Most tasks of one answer (contract, section 8). */
export const MAX_TASKS = 10_000;
/** Up to here an answer is one statement and one piece of text; a longer one is streamed. */
export const MAX_AT_ONCE = 1_000;

const ORDER = 't.position nulls last, t.created_at, t.task_id';
/** Differs whenever anything wrote to the row, through whichever door; 64 bits. */
const MARK = 'hashtextextended(t.task_id, hashxidextended(t.xmin, 0))';
const NODE = 't.task_id, t.parent_task_id';

/** In every statement: $1 caller, $2 status or null, and $3 the project or team where the scope has one. */
const SCOPE_SQL: Record<Scope, string> = {
  project: `select p.project_id, m.role as seat from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $1
    where p.project_id = $3 and p.deleted_at is null`,
  team: `select m.role as seat from memberships m where m.team_id = $3 and m.user_id = $1`,
  visible: `select 'guest' as seat`,
  mine: `select 'guest' as seat`,
};

const TASKS: Record<Exclude<Scope, 'visible'>, string> = {
  // By the place and not by $3: with the value in hand the planner would make a new plan for every request, at the cost of a third.
  project: 't.project_id = place.project_id and place.seat is not null',
  team: 't.team_id = $3',
  // Not `exists`, which the planner would turn into a join and so lose the order of the index.
  mine: 't.assigned_to = $1 and (select true from memberships m where m.team_id = t.team_id and m.user_id = $1)',
};

/** One more than the most, so that one sees whether there are more. Not as a plain number: the planner would rather sort up to it. */
const limit = (most: number): string => `limit (select ${most + 1})`;

const inOrder = (columns: string, where: string, most: number): string =>
  `select ${columns} from tasks t where ${where} and t.deleted_at is null and STATUS order by ${ORDER} ${limit(most)}`;

/** Each team's tasks in order, of no team more than can be wanted, then the first of them all. */
function ofEveryTeam(columns: string, carried: string, most: number): string {
  const kept = `${NODE}, t.position, t.created_at, ${MARK} as mark ${carried}`;
  return `
    select ${columns} from (
      select t.* from memberships m cross join lateral (${inOrder(kept, 't.team_id = m.team_id', most)}) t
      where m.user_id = $1 order by ${ORDER} ${limit(most)}
    ) t`;
}

const marksOf = (scope: Scope): string =>
  scope === 'visible'
    ? ofEveryTeam(`${NODE}, t.mark`, '', MAX_TASKS)
    : inOrder(`${NODE}, ${MARK} as mark`, TASKS[scope], MAX_TASKS);

const recordsOf = (scope: Scope): string =>
  scope === 'visible'
    ? ofEveryTeam(`${NODE}, t.mark, task_json(t.task)::text as json`, ', t as task', MAX_AT_ONCE)
    : inOrder(`${NODE}, ${MARK} as mark, task_json(t)::text as json`, TASKS[scope], MAX_AT_ONCE);

interface ListStatements {
  /** The records themselves, one more than an answer of one piece has. */
  records: Statement;
  /** Only which tasks there are, and their marks; one more than an answer has. */
  marks: Statement;
  /** Only a number that changes with any of them. */
  fingerprint: Statement;
}

/** One row for all tasks, a line for each (gathered.ts). */
const taskColumns = (tasks: string, records = ''): string => /* sql */ `
  select count(*)::int as count, bit_xor(t.mark)::text as mark, string_agg(t.task_id, e'\n') as ids,
    string_agg(coalesce(t.parent_task_id, ''), e'\n') as parents, string_agg(t.mark::text, e'\n') as marks ${records}
  from (${tasks}) t`;

/** A statement for all of them and one for those of a status: a plan that served both could not rely on either. */
function statementsOf(scope: Scope, status: boolean): ListStatements {
  /** No row: there is no such place. */
  const statement = (name: string, tasks: string): Statement => ({
    name: `${name}_${scope}${status ? '_by_status' : ''}`,
    text: `select place.seat, t.* from (${SCOPE_SQL[scope]}) place left join lateral (${tasks}) t on true`.replaceAll(
      'STATUS',
      status ? 't.status = $2' : '$2::text is null',
    ),
  });
  const fingerprint = `select count(*)::int as count, bit_xor(t.mark)::text as mark from (${marksOf(scope)}) t`;
  return {
    records: statement('list_tasks', taskColumns(recordsOf(scope), `, string_agg(t.json, e'\n') as records`)),
    marks: statement('list_task_marks', taskColumns(marksOf(scope))),
    fingerprint: statement('fingerprint_tasks', fingerprint),
  };
}

const SCOPES: Scope[] = ['project', 'team', 'visible', 'mine'];
const ofScopes = (status: boolean) =>
  Object.fromEntries(SCOPES.map((scope) => [scope, statementsOf(scope, status)])) as Record<Scope, ListStatements>;
const all = ofScopes(false);
const byStatus = ofScopes(true);

export const listStatements = (scope: Scope, status: string | null): ListStatements => (status === null ? all : byStatus)[scope];

/**
 * $1 task ids, $2 caller: the records of those that are still there and still the caller's to read, in no order. Written so that
 * there is one way to run it, along the index of the ids with the caller's teams in a hash: right after many tasks were created the
 * planner's statistics know nothing of them, and what it knows of seats is of the average person. So it is not told how many ids
 * there are (`select $1`), and `is true` keeps it from making the teams a join or a condition of another index.
 */
export const recordsStatement: Statement = {
  name: 'task_records',
  text: /* sql */ `
    select string_agg(t.task_id, e'\n') as ids, string_agg(task_json(t)::text, e'\n') as records from tasks t
    where t.task_id = any ((select $1::text[])::text[]) and t.deleted_at is null
      and (t.team_id in (select m.team_id from memberships m where m.user_id = $2)) is true`,
};
