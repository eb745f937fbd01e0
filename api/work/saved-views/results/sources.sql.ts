import { buildValuesSql, withValues, withValuesBefore } from '../../custom-fields/filter.sql.js';
import { FOUND_RECORD, recordsById } from '../../items/work-item.sql.js';
import { PROJECT_JSON } from '../../projects/project-json.js';
import { listTaskColumns } from '../../tasks/columns.js';
import { manualKey } from '../../tasks/order/manual-key.js';
import { TASK_PRIORITIES } from '../../tasks/rules.js';
import { STATUSES_OF, type ViewEntity } from '../rules.js';
import { MANUAL_ORDER } from '../sort-fields.js';

/** SQL of one entity: live rows as `w`, their columns by the names of the API, and the record of an id. */
interface Source {
  from: string;
  id: string;
  live: string;
  columns: Readonly<Record<string, string>>;
  /** Joins the record of the item `k`. */
  join: (id: string) => string;
  record: string;
}

const rank = (column: string, values: readonly string[]): string =>
  `array_position(array[${values.map((value) => `'${value}'`).join(', ')}], ${column})`;

/** Fields that are sorted by their place in a list of values. */
const RANKED: Readonly<Record<ViewEntity, Readonly<Record<string, readonly string[]>>>> = {
  task: { status: STATUSES_OF.task, priority: TASK_PRIORITIES },
  project: { status: STATUSES_OF.project },
  work_item: { status: STATUSES_OF.work_item },
};

const same = (names: readonly string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, `w.${name}`]));
const COMMON = ['status', 'team_id', 'project_id', 'created_at', 'updated_at'];

const WORK_ITEM_COLUMNS = 'status, team_id, project_id, created_at, updated_at';
const WORK_ITEMS = /* sql */ `(
  select task_id as item_id, 'task' as type, title, ${WORK_ITEM_COLUMNS} from tasks where deleted_at is null
  union all select item_id, item_type, title, ${WORK_ITEM_COLUMNS} from items where deleted_at is null
  union all select project_id::text, 'project', name, ${WORK_ITEM_COLUMNS} from projects where deleted_at is null) w`;

export const SOURCES: Readonly<Record<ViewEntity, Source>> = {
  task: {
    from: 'tasks w',
    id: 'w.task_id',
    live: 'w.deleted_at is null',
    columns: {
      // Ids begin with their time, so groups of cycles and projects stand in the order in which these were created.
      ...same([...COMMON, 'cycle_id', 'stage_id', ...listTaskColumns('sorted')]),
      [MANUAL_ORDER]: manualKey('w'),
      // Its place among the stages of its status, where the tasks without one stand at 0.
      stage: 'coalesce((select s.position from stages s where s.stage_id = w.stage_id), 0)',
      // A text: a date comes before the times of its day.
      due_date: 'w.due_date collate "C"',
    },
    join: (id) => `cross join lateral (
      select ${withValuesBefore('cycle_id', 'task_json(t)::text')} as json from tasks t ${buildValuesSql('t.task_id')} where t.task_id = ${id} limit 1) r`,
    record: 'r.json',
  },
  project: {
    from: 'projects w',
    id: 'w.project_id::text',
    live: 'w.deleted_at is null',
    columns: same([...COMMON, 'name', 'start_date', 'end_date']),
    join: (id) => `cross join lateral (
      select ${withValues(`${PROJECT_JSON}::text`)} as json from projects p ${buildValuesSql('p.project_id::text')}
      where p.project_id::text = ${id} limit 1) r`,
    record: 'r.json',
  },
  work_item: {
    from: WORK_ITEMS,
    id: 'w.item_id',
    live: 'true',
    columns: same([...COMMON, 'title', 'type']),
    join: (id) => recordsById(id, 'k.type'),
    record: `${FOUND_RECORD}::text`,
  },
};

/** The expression by which rows are sorted. */
export function sortKey(entity: ViewEntity, field: string): string {
  const column = SOURCES[entity].columns[field];
  if (column === undefined) throw new Error(`A view of ${entity} does not sort by ${field}`);
  const values = RANKED[entity][field];
  return values ? rank(column, values) : column;
}
