import { Parameters } from '../../../db/statement-parameters.js';
import type { Call } from '../../../db/statement.js';
import type { FieldFilter } from '../../custom-fields/filter.js';
import { idsWithAll } from '../../custom-fields/filter.sql.js';
import {
  limit,
  MARK,
  MAX_AT_ONCE,
  MAX_TASKS,
  MAY_LIST,
  NODE,
  ORDER,
  PLAIN,
  type Scope,
  SCOPE_SQL,
  taskColumns,
  TASKS,
  WITH_FIELDS,
} from './list-tasks.sql.js';

/** The place of a task that another filter has found. Not a join: each task is looked up by its id. */
const PLACE: Record<Scope, string> = {
  ...TASKS,
  visible: `(t.team_id in (select m.team_id from memberships m where m.user_id = $1 and ${MAY_LIST})) is true`,
};

/** What one query of a list reads: records, only ids and marks, or only a fingerprint. */
export type ListKind = 'records' | 'marks' | 'fingerprint';

/**
 * A list of the tasks that pass filters by custom fields: first their ids by the indexes of the values, then the tasks by their ids. `values`
 * are those of every list. Without a name, so that each call is planned for its own values: one may match a task, another all of them.
 */
export function filteredCall(
  scope: Scope,
  values: unknown[],
  filters: readonly FieldFilter[],
  kind: ListKind,
  withFields: boolean,
): Call {
  const $ = new Parameters();
  $.values.push(...values);
  const { join, mark, record } = withFields ? WITH_FIELDS : PLAIN;
  const maxRows = kind === 'records' ? MAX_AT_ONCE : MAX_TASKS;
  const status = values[1] === null ? '$2::text is null' : 't.status = $2';
  const found = /* sql */ `
    select t.* from found cross join lateral (
      select t as task, ${NODE}, t.position, t.created_at, ${MARK} as mark from tasks t
      where t.task_id = found.entity_id and ${PLACE[scope]} and t.deleted_at is null and ${status} limit 1
    ) t order by ${ORDER} ${limit(maxRows)}`;
  const json = kind === 'records' ? `, ${record('task_json(t.task)::text')} as json` : '';
  const tasks = `select ${NODE}, t.mark${mark} as mark ${json} from (${found}) t ${join} order by ${ORDER}`;
  const listed =
    kind === 'fingerprint'
      ? `select count(*)::int as count, bit_xor(t.mark)::text as mark from (${tasks}) t`
      : taskColumns(tasks, kind === 'records' ? `, string_agg(t.json, e'\\n') as records` : '');
  const text = `with found as materialized (${idsWithAll(filters, $)})
    select place.seat, t.* from (${SCOPE_SQL[scope]}) place left join lateral (${listed}) t on true`;
  return { statement: { name: '', text }, values: $.values };
}
