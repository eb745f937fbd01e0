import type { Statement } from '../../../db/statement.js';
import { valuesOf, withValuesBefore } from '../../custom-fields/filter.sql.js';

/** Scope of a list. */
export type Scope = 'project' | 'team' | 'cycle' | 'visible' | 'mine';

/** Maximum tasks of one response (docs/decisions.md#task-list-limit). */
export const MAX_TASKS = 10_000;
/** Maximum tasks of a response that is one statement and one string; a longer one is streamed. */
export const MAX_AT_ONCE = 1_000;

export const ORDER = 't.position nulls last, t.created_at, t.task_id';
/** Changes with every write to the row; 64 bits. */
export const MARK = 'hashtextextended(t.task_id, hashxidextended(t.xmin, 0))';
export const NODE = 't.task_id, t.parent_task_id';

/**
 * In every statement: $1 = caller id, $2 = status or null, $3 = roles that may list, $4 = project, team or cycle id if the scope has one;
 * of a cycle also $5 = project id or null, $6 = team id or null.
 * Coalesced, so that the plan costs the same for any roles and PostgreSQL keeps its plan.
 */
export const MAY_LIST = 'coalesce(m.role = any($3::text[]), false)';

export const SCOPE_SQL: Record<Scope, string> = {
  project: `select p.project_id, m.role as seat from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $1
    where p.project_id = $4 and p.deleted_at is null`,
  team: `select m.role as seat from memberships m where m.team_id = $4 and m.user_id = $1 and ${MAY_LIST}`,
  cycle: `select m.role as seat from cycles c left join memberships m on m.team_id = c.team_id and m.user_id = $1
    where c.cycle_id = $4 and (c.project_id is null
      or exists (select from projects p where p.project_id = c.project_id and p.deleted_at is null))`,
  visible: 'select null as seat',
  mine: 'select null as seat',
};

export const TASKS: Record<Exclude<Scope, 'visible'>, string> = {
  // Compares with the scope row instead of $4: with a known value, the planner would plan every request anew, a third of its
  // cost.
  project: 't.project_id = place.project_id and coalesce(place.seat = any($3::text[]), false)',
  team: 't.team_id = $4',
  cycle: `t.cycle_id = $4 and coalesce(place.seat = any($3::text[]), false) and ($5::uuid is null or t.project_id = $5)
    and ($6::uuid is null or t.team_id = $6)`,
  // Not `exists`: the planner would turn it into a join and lose the index order.
  mine: `t.assigned_to = $1 and (select true from memberships m where m.team_id = t.team_id and m.user_id = $1 and ${MAY_LIST})`,
};

/** One row more than the maximum, which reveals more tasks. Not a plain number: the planner would then prefer to sort. */
export const limit = (maxRows: number): string => `limit (select ${maxRows + 1})`;

/** What a list reads beside the tasks themselves, as `c`: nothing, or the values of custom fields. */
export interface Extra {
  join: string;
  mark: string;
  record: (json: string) => string;
}
export const PLAIN: Extra = { join: '', mark: '', record: (json) => json };
export const WITH_FIELDS: Extra = {
  join: valuesOf('(t).task_id'),
  mark: ' # coalesce(c.mark, 0)',
  record: (json) => withValuesBefore('cycle_id', json),
};

const inOrder = (columns: string, where: string, status: string, maxRows: number, join = ''): string =>
  `select ${columns} from tasks t ${join} where ${where} and t.deleted_at is null and ${status} order by ${ORDER} ${limit(maxRows)}`;

/** Reads each team's first tasks in order, then the first of them all. */
function ofEveryTeam(columns: string, extra: string, status: string, maxRows: number, join: string): string {
  const columnsOfTeam = `${NODE}, t.position, t.created_at, ${MARK} as mark ${extra}`;
  return `
    select ${columns} from (
      select t.* from memberships m cross join lateral (${inOrder(columnsOfTeam, 't.team_id = m.team_id', status, maxRows)}) t
      where m.user_id = $1 and ${MAY_LIST} order by ${ORDER} ${limit(maxRows)}
    ) t ${join}`;
}

const marksOf = (scope: Scope, status: string, { join, mark }: Extra): string =>
  scope === 'visible'
    ? ofEveryTeam(`${NODE}, t.mark${mark} as mark`, '', status, MAX_TASKS, join)
    : inOrder(`${NODE}, ${MARK}${mark} as mark`, TASKS[scope], status, MAX_TASKS, join);

function recordsOf(scope: Scope, status: string, { join, mark, record }: Extra): string {
  if (scope !== 'visible') {
    const columns = `${NODE}, ${MARK}${mark} as mark, ${record('task_json(t)::text')} as json`;
    return inOrder(columns, TASKS[scope], status, MAX_AT_ONCE, join);
  }
  const columns = `${NODE}, t.mark${mark} as mark, ${record('task_json(t.task)::text')} as json`;
  return ofEveryTeam(columns, ', t as task', status, MAX_AT_ONCE, join);
}

export interface ListStatements {
  /** The records, one more than a response in one piece has. */
  records: Statement;
  /** Only ids and marks; one more than a response has. */
  marks: Statement;
  /** Only a fingerprint that changes with any of the tasks. */
  fingerprint: Statement;
}

/** One row for all tasks, one line per task in each column (task-columns.ts). */
export const taskColumns = (tasks: string, records = ''): string => /* sql */ `
  select count(*)::int as count, bit_xor(t.mark)::text as mark, string_agg(t.task_id, e'\n') as ids,
    string_agg(coalesce(t.parent_task_id, ''), e'\n') as parents, string_agg(t.mark::text, e'\n') as marks ${records}
  from (${tasks}) t`;

/** Separate statements with and without a status: one plan for both would be worse for each. */
function statementsOf(scope: Scope, byStatus: boolean, extra: Extra): ListStatements {
  const status = byStatus ? 't.status = $2' : '$2::text is null';
  /** No row: the project or team does not exist. */
  const statement = (name: string, tasks: string): Statement => ({
    name: `${name}_${scope}${byStatus ? '_by_status' : ''}${extra === WITH_FIELDS ? '_with_fields' : ''}`,
    text: `select place.seat, t.* from (${SCOPE_SQL[scope]}) place left join lateral (${tasks}) t on true`,
  });
  const marks = marksOf(scope, status, extra);
  const fingerprint = `select count(*)::int as count, bit_xor(t.mark)::text as mark from (${marks}) t`;
  return {
    records: statement('list_tasks', taskColumns(recordsOf(scope, status, extra), `, string_agg(t.json, e'\n') as records`)),
    marks: statement('list_task_marks', taskColumns(marks)),
    fingerprint: statement('fingerprint_tasks', fingerprint),
  };
}

const SCOPES: Scope[] = ['project', 'team', 'cycle', 'visible', 'mine'];
const ofScopes = (status: boolean, extra: Extra) =>
  Object.fromEntries(SCOPES.map((scope) => [scope, statementsOf(scope, status, extra)])) as Record<Scope, ListStatements>;
const all = ofScopes(false, PLAIN);
const byStatus = ofScopes(true, PLAIN);
const allWithFields = ofScopes(false, WITH_FIELDS);
const byStatusWithFields = ofScopes(true, WITH_FIELDS);

export const listStatements = (scope: Scope, status: string | null, withFields: boolean): ListStatements =>
  (withFields ? (status === null ? allWithFields : byStatusWithFields) : status === null ? all : byStatus)[scope];

/**
 * $1 = task ids, $2 = caller id, $3 = roles that may list. Returns the records that still exist and that the caller may still read,
 * in no order. Written so that only one plan is possible: the index on the ids, with the caller's teams in a hash. After many
 * inserts, the planner's statistics do not know the new tasks, and those on memberships describe the average user. So `select $1` hides the number of
 * ids, and `is true` prevents a join or another index.
 */
const recordsStatementWith = (name: string, { join, record }: Extra): Statement => ({
  name,
  text: /* sql */ `
    select string_agg(t.task_id, e'\n') as ids, string_agg(${record('task_json(t)::text')}, e'\n') as records from tasks t ${join}
    where t.task_id = any ((select $1::text[])::text[]) and t.deleted_at is null
      and (t.team_id in (select m.team_id from memberships m where m.user_id = $2 and ${MAY_LIST})) is true`,
});
export const recordsStatement = recordsStatementWith('task_records', PLAIN);
export const recordsWithFieldsStatement = recordsStatementWith('task_records_with_fields', WITH_FIELDS);
