import { Parameters } from '../../../../db/statement-parameters.js';
import { type Call, defineStatement } from '../../../../db/statement.js';
import type { FieldFilter } from '../../custom-fields/filter.js';
import { idsWithAll, withoutFields } from '../../custom-fields/filter.sql.js';
import { NONE, type ValueFilter, type ValueFilters } from '../filters.js';
import {
  firstRecords,
  foundRecordColumns,
  limit,
  MARK,
  markColumns,
  MAX_AT_ONCE,
  MAY_LIST,
  NODE,
  ORDER,
  PLAIN,
  RECORDS,
  type Scope,
  SCOPE_SQL,
  SIZE_JOIN,
  SIZES,
  taskColumns,
  TASKS,
  WITH_FIELDS,
} from './list-tasks.sql.js';
import { valueConditions } from './value-filters.sql.js';

/** The place of a task that another filter has found. Not a join: each task is looked up by its id. */
const PLACE: Record<Scope, string> = {
  ...TASKS,
  visible: `(t.team_id in (select m.team_id from memberships m where m.user_id = $1 and ${MAY_LIST})) is true`,
};

/** What one query of a list reads: records, only ids and marks, or only a fingerprint. */
export type ListKind = 'records' | 'marks' | 'fingerprint';

/** Filters by the columns of a task; all of them count. */
interface TaskFilters extends ValueFilters {
  due?: typeof NONE | undefined;
  /** Normalized dates. */
  due_before?: string | undefined;
  due_after?: string | undefined;
  updated_since?: string | undefined;
}

/** Where a list goes on: the place of its last task, with `created_at` as PostgreSQL writes it. */
export interface TaskCursor extends Record<string, unknown> {
  task_id: string;
  position: number | null;
  created_at: string;
}

/** $1 = task id, $2 = caller id, $3 = roles that may list. The place of a task, which it keeps in the trash. */
export const taskCursorStatement = defineStatement({
  name: 'task_cursor',
  text: /* sql */ `
    select t.task_id, t.position, t.created_at::text as created_at from tasks t where t.task_id = $1
      and exists (select from memberships m where m.team_id = t.team_id and m.user_id = $2 and ${MAY_LIST})`,
});

/** A list beyond its scope and status. */
export interface Narrowing {
  filters: TaskFilters;
  /** Filters by custom fields, and those that leave out what they find. */
  fields: readonly FieldFilter[];
  notFields: readonly FieldFilter[];
  after: TaskCursor | null;
  /** Tasks of a page, if the caller says so. */
  limit?: number | undefined;
  /** Tasks of the list, of which each query reads one more. */
  maxRows: number;
}

/** Filters by columns whose indexes go over all teams: that of assignees would read what another person does in other teams. */
const ACROSS_TEAMS: ReadonlySet<ValueFilter> = new Set(['assigned_to', 'created_by', 'cycle_id', 'stage_id', 'project_id']);

/** One condition for each filter that is given; $1 = caller id and $2 = status or null, as in every list. */
function buildConditions({ filters, notFields }: Narrowing, $: Parameters): string {
  const [caller, status] = $.values;
  const { due, due_before, due_after, updated_since, ...values } = filters;
  const given = (value: string | undefined, sql: (value: string) => string): string[] =>
    value === undefined ? [] : [sql(value)];
  const isOwn = (name: ValueFilter) => name === 'assigned_to' && values.assigned_to?.every((id) => id === caller);
  return [
    't.deleted_at is null',
    status === null ? '$2::text is null' : 't.status = $2',
    ...valueConditions('t', values, $, (name) => ACROSS_TEAMS.has(name) && !isOwn(name)),
    ...(due === NONE ? ['t.due_date is null'] : []),
    ...given(due_before, (date) => `t.due_date collate "C" < ${$.add(date, 'text')}`),
    // After a day means after all its times.
    ...given(due_after, (date) => `t.due_date collate "C" > ${$.add(date.length === 10 ? `${date}~` : date, 'text')}`),
    ...given(updated_since, (time) => `t.updated_at >= ${$.add(time, 'timestamptz')}`),
    ...withoutFields('t.task_id', notFields, $),
  ].join(' and ');
}

/** Conditions of the tasks that follow the cursor, each a range of the index that gives the order. Tasks without a position come last. */
function buildRangesSql({ after }: Narrowing, $: Parameters): string[] {
  if (after === null) return ['true'];
  const [created, id] = [$.add(after.created_at, 'timestamptz'), $.add(after.task_id, 'text')];
  if (after.position === null) return [`t.position is null and (t.created_at, t.task_id) > (${created}, ${id})`];
  const position = $.add(after.position, 'double precision');
  return [`(t.position, t.created_at, t.task_id) > (${position}, ${created}, ${id})`, 't.position is null'];
}

/**
 * A list of the tasks that pass filters: of custom fields first their ids by the indexes of the values, then the tasks by their ids; of
 * columns the tasks of each place in order. So no filter reads the rows of a team that the caller is not in. `values` are those of every
 * list. Without a name, so that each call is planned for its own values: one may match a task, another all of them.
 */
export function filteredCall(scope: Scope, values: unknown[], narrowing: Narrowing, kind: ListKind, withFields: boolean): Call {
  const $ = new Parameters();
  $.values.push(...values);
  const extra = withFields ? WITH_FIELDS : PLAIN;
  const end = limit(kind === 'records' ? Math.min(narrowing.maxRows, MAX_AT_ONCE) : narrowing.maxRows);
  const isNamed = narrowing.fields.length > 0;
  const { project_id, ...filters } = narrowing.filters;
  // Of several projects the tasks are read place by place, as of teams.
  const byProject = scope === 'visible' && !isNamed && project_id !== undefined && project_id.length > 0;
  const conditions = buildConditions(byProject ? { ...narrowing, filters } : narrowing, $);
  const columns = `${kind === 'records' ? 't as task, ' : ''}${NODE}, t.position, t.created_at, ${MARK} as mark`;
  const buildTasksSql = (place: string) => `select ${columns} from tasks t where ${place} and ${conditions}`;
  const ranges = buildRangesSql(narrowing, $);
  const inOrder = (place: string) =>
    ranges.map((range) => `(${buildTasksSql(place)} and ${range} order by ${ORDER} ${end})`).join(' union all ');
  const named = isNamed ? `with found as materialized (${idsWithAll(narrowing.fields, $)})` : '';
  const rows = isNamed
    ? `select t.* from found cross join lateral (${buildTasksSql(`t.task_id = found.entity_id and ${PLACE[scope]}`)} and (${ranges.join(' or ')}) limit 1) t`
    : byProject
      ? `select t.* from memberships m join projects p on p.team_id = m.team_id cross join lateral (${inOrder('t.project_id = p.project_id')}) t
    where m.user_id = $1 and ${MAY_LIST} and p.project_id = any(${$.add(project_id, 'uuid[]')})`
      : scope === 'visible'
        ? `select t.* from memberships m cross join lateral (${inOrder('t.team_id = m.team_id')}) t where m.user_id = $1 and ${MAY_LIST}`
        : inOrder(TASKS[scope]);
  const buildColumns = {
    records: foundRecordColumns(extra),
    marks: markColumns('s', extra),
    fingerprint: `t.mark${extra.mark} as mark`,
  };
  const found = `select ${buildColumns[kind]} from (select t.* from (${rows}) t order by ${ORDER} ${end}) t
    ${extra.join} ${kind === 'marks' ? SIZE_JOIN : ''} order by ${ORDER}`;
  const tasks = kind === 'records' ? firstRecords(found, extra) : found;
  const listed =
    kind === 'fingerprint'
      ? `select count(*)::int as count, bit_xor(t.mark)::text as mark from (${tasks}) t`
      : taskColumns(tasks, kind === 'records' ? RECORDS : SIZES);
  const text = `${named} select place.seat, t.* from (${SCOPE_SQL[scope]}) place left join lateral (${listed}) t on true`;
  return { statement: { name: '', text }, values: $.values };
}
