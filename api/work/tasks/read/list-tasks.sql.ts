import { defineStatement, type Statement } from '../../../../db/statement.js';
import { buildJsonBytesSql, buildSizesSql, buildTextBytesSql } from './record-sizes.sql.js';
import { buildValuesSql, withValuesBefore } from '../../custom-fields/filter.sql.js';

/** Scope of a list. */
export type Scope = 'project' | 'team' | 'cycle' | 'visible' | 'mine';

/** Maximum tasks of one response (docs/decisions/work.md#task-list-limit). */
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
  /** Its column in a list of records. */
  column: string;
  /** Bytes that it adds to a record. */
  bytes: string;
  record: (json: string) => string;
}
export const PLAIN: Extra = { join: '', mark: '', column: '', bytes: '', record: (json) => json };
export const WITH_FIELDS: Extra = {
  join: buildValuesSql('(t).task_id'),
  mark: ' # coalesce(c.mark, 0)',
  column: ', c.members',
  bytes: ' + coalesce(octet_length(c.members), 0) + 19',
  record: (json) => withValuesBefore('cycle_id', json),
};

/** Maximum bytes of the records that come with the first query: more than a thousand usual tasks. */
const MAX_BYTES_AT_ONCE = 1000 * 1000;
/** The first records of `tasks`, which has its columns by `recordColumns`. Values of custom fields are read for these alone. */
export const firstRecords = (tasks: string, { bytes, record }: Extra): string => /* sql */ `
  select c.task_id, c.parent_task_id, c.mark,
    case when sum(octet_length(c.json)${bytes}) over (rows unbounded preceding) <= ${MAX_BYTES_AT_ONCE} then ${record('c.json')} end as json
  from (${tasks}) c`;
const recordColumns = (mark: string, task: string, extra: Extra): string =>
  `${NODE}, ${mark}${extra.mark} as mark, task_json(${task})::text as json ${extra.column}`;
/** The same of tasks that were found before, as `t.task`. */
export const foundRecordColumns = (extra: Extra): string => recordColumns('t.mark', 't.task', extra);

/** Finds the sizes of tasks `t` that were found without. Not a plain join: it is asked only for the tasks of the list. */
export const SIZE_JOIN = /* sql */ `
  cross join lateral (select ${buildSizesSql('found')} from tasks found where found.task_id = t.task_id limit 1) s`;
/** Columns of a list without records; the sizes are those of `s`. */
export const markColumns = (s: string, { mark, bytes }: Extra): string =>
  `${NODE}, t.mark${mark} as mark, ${s}.texts, ${s}.bytes${bytes} as bytes`;

/** $1 = task ids. Bytes that JSON adds to the texts of each, one a line, in this order. */
export const escapesStatement = defineStatement({
  name: 'task_escapes',
  text: /* sql */ `
    select string_agg(coalesce(s.escapes, 0)::text, e'\n') as escapes from unnest((select $1::text[])) as wanted(task_id) left join lateral (
      select ${buildJsonBytesSql('s')} - (${buildTextBytesSql('s')}) as escapes
      from tasks s where s.task_id = wanted.task_id limit 1
    ) s on true`,
});

const inOrder = (columns: string, where: string, status: string, maxRows: number, join = ''): string =>
  `select ${columns} from tasks t ${join} where ${where} and t.deleted_at is null and ${status} order by ${ORDER} ${limit(maxRows)}`;

/** Reads each team's first tasks in order, then the first of them all. */
const ofEveryTeam = (columns: string, status: string, maxRows: number): string => `
  select t.* from memberships m cross join lateral (${inOrder(`${columns}, t.position, t.created_at`, 't.team_id = m.team_id', status, maxRows)}) t
  where m.user_id = $1 and ${MAY_LIST} order by ${ORDER} ${limit(maxRows)}`;

const TASK_MARK = `${NODE}, ${MARK} as mark`;
const buildFingerprintSql = (scope: Scope, status: string, { join, mark }: Extra): string => {
  const tasks =
    scope === 'visible' ? ofEveryTeam(TASK_MARK, status, MAX_TASKS) : inOrder(TASK_MARK, TASKS[scope], status, MAX_TASKS);
  return `select t.mark${mark} as mark from (${tasks}) t ${join}`;
};

function buildMarksSql(scope: Scope, status: string, extra: Extra): string {
  if (scope === 'visible') {
    return `select ${markColumns('s', extra)} from (${ofEveryTeam(TASK_MARK, status, MAX_TASKS)}) t ${extra.join} ${SIZE_JOIN}`;
  }
  const tasks = inOrder(`${TASK_MARK}, ${buildSizesSql('t')}`, TASKS[scope], status, MAX_TASKS);
  return `select ${markColumns('t', extra)} from (${tasks}) t ${extra.join}`;
}

function buildRecordsSql(scope: Scope, status: string, extra: Extra): string {
  if (scope !== 'visible') {
    const columns = recordColumns(MARK, 't', extra);
    return firstRecords(inOrder(columns, TASKS[scope], status, MAX_AT_ONCE, extra.join), extra);
  }
  const tasks = ofEveryTeam(`${TASK_MARK}, t as task`, status, MAX_AT_ONCE);
  // `offset 0`: each record is written once, although it is counted and shown.
  return firstRecords(`select ${foundRecordColumns(extra)} from (${tasks}) t ${extra.join} offset 0`, extra);
}

export interface ListStatements {
  /** The marks, one more than a response in one piece has, and the first records, up to about a megabyte. */
  records: Statement;
  /** Only ids, marks and bytes; one more than a response has. */
  marks: Statement;
  /** Only a fingerprint that changes with any of the tasks. */
  fingerprint: Statement;
}

/** Further columns of `taskColumns`. Only the first tasks have records. */
export const RECORDS = `, string_agg(t.json, e'\\n') as records, count(t.json)::int as read`;
export const SIZES = `, string_agg(t.bytes::text, e'\\n') as sizes, sum(t.texts)::int as texts`;

/** One row for all tasks, one line per task in each column (task-columns.ts). */
export const taskColumns = (tasks: string, more = ''): string => /* sql */ `
  select count(*)::int as count, bit_xor(t.mark)::text as mark, string_agg(t.task_id, e'\n') as ids,
    string_agg(coalesce(t.parent_task_id, ''), e'\n') as parents, string_agg(t.mark::text, e'\n') as marks ${more}
  from (${tasks}) t`;

/** Separate statements with and without a status: one plan for both would be worse for each. */
function buildStatements(scope: Scope, byStatus: boolean, extra: Extra): ListStatements {
  const status = byStatus ? 't.status = $2' : '$2::text is null';
  /** No row: the project or team does not exist. */
  const statement = (name: string, tasks: string): Statement =>
    defineStatement({
      name: `${name}_${scope}${byStatus ? '_by_status' : ''}${extra === WITH_FIELDS ? '_with_fields' : ''}`,
      text: `select place.seat, t.* from (${SCOPE_SQL[scope]}) place left join lateral (${tasks}) t on true`,
    });
  const fingerprint = `select count(*)::int as count, bit_xor(t.mark)::text as mark from (${buildFingerprintSql(scope, status, extra)}) t`;
  return {
    records: statement('list_tasks', taskColumns(buildRecordsSql(scope, status, extra), RECORDS)),
    marks: statement('list_task_marks', taskColumns(buildMarksSql(scope, status, extra), SIZES)),
    fingerprint: statement('fingerprint_tasks', fingerprint),
  };
}

const SCOPES: Scope[] = ['project', 'team', 'cycle', 'visible', 'mine'];
const ofScopes = (status: boolean, extra: Extra) =>
  Object.fromEntries(SCOPES.map((scope) => [scope, buildStatements(scope, status, extra)])) as Record<Scope, ListStatements>;
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
const recordsStatementWith = (name: string, { join, record }: Extra): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    select string_agg(t.task_id, e'\n') as ids, string_agg(${record('task_json(t)::text')}, e'\n') as records from tasks t ${join}
    where t.task_id = any ((select $1::text[])::text[]) and t.deleted_at is null
      and (t.team_id in (select m.team_id from memberships m where m.user_id = $2 and ${MAY_LIST})) is true`,
  });
export const recordsStatement = recordsStatementWith('task_records', PLAIN);
export const recordsWithFieldsStatement = recordsStatementWith('task_records_with_fields', WITH_FIELDS);
