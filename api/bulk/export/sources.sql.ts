import { listTaskColumns } from '../../work/tasks/columns.js';
import type { Entity, RowKind } from '../rules.js';

/**
 * What an export reads of one kind: $1 = team id, $2 = project ids, or null for the whole team. `line` is a row as JSON on one line; its first
 * member is `entity`.
 */
export interface Source {
  line: string;
  from: string;
  order: string;
  /** Columns of a table, in this order, after `entity`. */
  columns: readonly string[];
}

const TIME = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Free fields are stored as sent: line breaks between their tokens would end the row. */
const FIELDS = (column: string): string => `translate(coalesce(${column}::text, '{}'), E'\\n\\r', '')::json as fields`;

/** Writes a row as JSON from its columns `a.b`, `a.b as c` or expressions with a name. */
const record = (kind: RowKind, columns: readonly string[]): string =>
  `(select row_to_json(r) from (select '${kind}' as entity, ${columns.join(', ')}) r)::text`;

const getName = (column: string): string => / as (\w+)$/.exec(column)?.[1] ?? column.slice(column.indexOf('.') + 1);

const source = (kind: RowKind, columns: readonly string[], from: string, order: string): Source => ({
  line: record(kind, columns),
  from,
  order,
  columns: columns.map(getName),
});

/** Whether a project is one that the export is about. */
const inProjects = (column: string): string => `($2::uuid[] is null or ${column} = any($2::uuid[]))`;

/**
 * Joins the item of an id. One look-up an id: as a condition, the planner could read the tasks of all teams instead. Keep it if `isExported`
 * holds: it is outside of the trash, in the team, and in the projects of the export.
 */
const joinItem = (name: string, id: string): string => `cross join lateral (
  select e.team_id, e.project_id, e.deleted_at from item_place e where e.item_id = ${id} limit 1) ${name}`;
const isExported = (name: string): string =>
  `${name}.deleted_at is null and ${name}.team_id = $1::uuid and ${inProjects(`${name}.project_id`)}`;

/** Columns of one table. */
const of = (table: string, names: string): string[] => names.split(' ').map((name) => `${table}.${name}`);
const times = (table: string, ...names: string[]): string[] => names.map((name) => `${TIME(`${table}.${name}`)} as ${name}`);

/** The record of the API with the free fields. Joined as text: a task is written as JSON once. */
const tasks: Source = {
  line: `'{"entity":"task",' || substr(left(task_json(t)::text, -1), 2) || ',"fields":'
    || coalesce(translate(f.fields::text, E'\\n\\r', ''), '{}') || '}'`,
  from: `tasks t left join item_fields f on f.item_id = t.task_id
    where t.team_id = $1::uuid and t.deleted_at is null and ${inProjects('t.project_id')}`,
  order: 't.created_at, t.task_id',
  columns: [...listTaskColumns('shown'), 'fields'],
};

const ITEM = [
  ...of('i', 'team_id project_id'),
  FIELDS('i.fields'),
  'i.created_by',
  ...times('i', 'created_at', 'updated_at'),
  'i.version',
];
const FILE = "json_build_object('size', u.size, 'content_type', u.content_type, 'sha256', u.sha256)";

/** One for each kind of row, each over live rows of the team alone. */
export const SOURCES: Record<Entity, Source> = {
  projects: source(
    'project',
    [
      ...of('p', 'project_id name description status start_date end_date lead_id'),
      FIELDS('f.fields'),
      ...of('p', 'team_id created_by'),
      ...times('p', 'created_at', 'updated_at'),
      'p.version',
    ],
    `projects p left join item_fields f on f.item_id = p.project_id::text
      where p.team_id = $1::uuid and p.deleted_at is null and ${inProjects('p.project_id')}`,
    'p.created_at, p.project_id',
  ),
  project_updates: source(
    'project_update',
    [...of('w', 'update_id project_id health content author_id'), ...times('w', 'created_at', 'updated_at'), 'w.edited'],
    `projects p join project_updates w on w.project_id = p.project_id
      where p.team_id = $1::uuid and p.deleted_at is null and ${inProjects('p.project_id')}`,
    'p.created_at, p.project_id, w.update_id',
  ),
  custom_fields: source(
    'custom_field',
    [
      ...of('d', 'field_id team_id name key field_type entity_type options required position is_archived'),
      ...times('d', 'created_at'),
    ],
    // Of all projects; every statement takes both parameters.
    'custom_fields d where d.team_id = $1::uuid and ($2::uuid[] is null or true)',
    'd.created_at, d.field_id',
  ),
  cycles: source(
    'cycle',
    [
      ...of('c', 'cycle_id name goal team_id project_id number start_date end_date status auto_complete repeats created_by'),
      ...times('c', 'created_at', 'updated_at', 'started_at', 'completed_at'),
      'c.snapshot',
    ],
    `cycles c where c.team_id = $1::uuid and (c.project_id is null or ${inProjects('c.project_id')} and exists (
      select from projects p where p.project_id = c.project_id and p.deleted_at is null))`,
    'c.created_at, c.cycle_id',
  ),
  tasks,
  comments: source(
    'comment',
    [
      ...of('k', 'comment_id task_id parent_comment_id content author_id mentions'),
      ...times('k', 'created_at', 'updated_at'),
      'k.edited',
      'k.deleted_at is not null as deleted',
    ],
    `tasks t join comments k on k.task_id = t.task_id
      where t.team_id = $1::uuid and t.deleted_at is null and ${inProjects('t.project_id')}`,
    't.created_at, t.task_id, k.created_at, k.comment_id',
  ),
  notes: source(
    'note',
    ['i.item_id as note_id', 'i.title', "coalesce(i.content, '') as content", ...of('i', 'description status kind'), ...ITEM],
    `items i where i.team_id = $1::uuid and i.deleted_at is null and i.item_type = 'note' and ${inProjects('i.project_id')}`,
    'i.created_at, i.item_id',
  ),
  work_items: source(
    'work_item',
    [
      'i.item_id',
      'i.item_type as type',
      ...of('i', 'title description status content'),
      ...ITEM,
      `case when u.item_id is not null then ${FILE} end as file`,
    ],
    `items i left join files u on u.item_id = i.item_id
      where i.team_id = $1::uuid and i.deleted_at is null and i.item_type <> 'note' and ${inProjects('i.project_id')}`,
    'i.created_at, i.item_id',
  ),
  // An edge to another team is none of this team's data.
  relations: source(
    'relation',
    [...of('r', 'relation_id relation_type source_id target_id created_by'), ...times('r', 'created_at')],
    `relations r ${joinItem('a', 'r.from_id')} ${joinItem('b', 'r.to_id')}
      where r.team_id = $1::uuid and r.from_team_id = $1::uuid and not r.crosses_teams and ${isExported('a')} and ${isExported('b')}`,
    'r.created_at, r.relation_id',
  ),
  custom_field_values: source(
    'custom_field_value',
    [
      ...of('v', 'value_id field_id key entity_type entity_id'),
      'custom_field_json(v) as value',
      'v.updated_by',
      ...times('v', 'updated_at'),
    ],
    `custom_fields d join custom_field_values v on v.field_id = d.field_id ${joinItem('a', 'v.entity_id')}
      where d.team_id = $1::uuid and ${isExported('a')}`,
    'd.created_at, d.field_id, v.entity_id',
  ),
  automations: source(
    'automation',
    [
      ...of('a', 'automation_id name description trigger_type trigger_config condition actions schedule_cron schedule_timezone'),
      ...of('a', 'is_active is_protected team_id project_id version created_by'),
      ...times('a', 'created_at'),
      'a.updated_by',
      ...times('a', 'updated_at'),
    ],
    `automations a where a.team_id = $1::uuid and a.deleted_at is null and ${inProjects('a.project_id')}`,
    'a.created_at, a.automation_id',
  ),
};

export const countText = (entity: Entity): string => `select count(*)::int as rows from ${SOURCES[entity].from}`;

/** Declares the cursor `export_rows` of one kind. */
export const declareText = (entity: Entity): string => {
  const { line, from, order } = SOURCES[entity];
  return `declare export_rows no scroll cursor for select ${line} as line from ${from} order by ${order}`;
};
