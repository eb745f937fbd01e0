import { defineStatement } from '../../../../db/statement.js';
import { COPIED_COLUMNS } from '../columns.js';
import { MAX_TREE } from './rules.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { PEOPLE_OF_DUE } from '../../../platform/events/due-people.sql.js';

/**
 * A task and its live subtasks, level by level; the index returns siblings in order, so the limit cuts the deepest and reads
 * nothing below. Of a subtask that recurs itself, only the earliest occurrence counts. $1 = task id.
 */
const TREE = /* sql */ `
  with recursive tree as (
    select t.task_id, t.due_date from tasks t where t.task_id = $1
    union all
    select below.task_id, below.due_date from tree cross join lateral (
      select c.task_id, c.due_date from tasks c where c.parent_task_id = tree.task_id and c.deleted_at is null
        and not exists (select from tasks e where e.series_id = c.series_id and e.occurrence_index < c.occurrence_index
          and e.parent_task_id = c.parent_task_id and e.deleted_at is null)
      order by c.position nulls last, c.created_at, c.task_id
    ) below
  )`;

/** Returns SQL of the columns that a copy has as they are. */
const listCopied = (row: string): string => COPIED_COLUMNS.map((name) => `${row}.${name}`).join(', ');

/** One task more than the maximum reveals a larger tree. */
const LIMIT = `limit ${MAX_TREE + 1}`;

/** $1 = task id. */
export const treeStatement = defineStatement({
  name: 'occurrence_tree',
  text: `${TREE} select task_id, due_date from tree ${LIMIT}`,
});

/** $1 = task id, $2 = caller id. Counts the tree of a task that does not recur yet, for members of its team. */
export const sizeStatement = defineStatement({
  name: 'occurrence_tree_size',
  text: /* sql */ `
    select t.recurrence is not null as recurs, m.role as seat,
      case when t.recurrence is null and m.role is not null then (
        ${TREE} select count(*)::int from (select from tree ${LIMIT}) counted
      ) end as size
    from tasks t left join memberships m on m.team_id = t.team_id and m.user_id = $2
    where t.task_id = $1 and t.deleted_at is null`,
});

/**
 * Copies subtasks below a new occurrence in one statement, with their item keys and traces. $1 = caller (jsonb), $2 = subtask ids
 * in order, each with its parent among them or below $4, $3 = their due dates, $4 = the old occurrence, $5 = the new one, whose
 * project the copies get. A copy is open, does not recur, and keeps only assignees who are members. Locks: FOR KEY SHARE on the
 * assignees' memberships, like the creation of a task.
 */
export const copyStatement = defineStatement({
  name: 'copy_subtasks',
  text: /* sql */ `
with source as materialized (
  select uuidv7()::text as copy_id, w.place, w.due_date as moved_due, t.task_id, t.parent_task_id, ${listCopied('t')}, ${PEOPLE_OF_DUE} as due_people, case when m.found then t.assigned_to end as assigned_to
  from unnest($2::text[], $3::text[]) with ordinality as w(task_id, due_date, place)
  cross join lateral (select * from tasks t where t.task_id = w.task_id limit 1) t
  left join lateral (
    select true as found from memberships m where m.team_id = t.team_id and m.user_id = t.assigned_to for key share
  ) m on true
), key as (
  insert into item_keys (item_id, item_type) select copy_id, 'task' from source returning item_id
), made as (
  insert into tasks (task_id, project_id, team_id, ${COPIED_COLUMNS.join(', ')}, assigned_to, due_date, parent_task_id, created_by, created_at, updated_at, due_set_by)
  select s.copy_id, root.project_id, root.team_id, ${listCopied('s')}, s.assigned_to, s.moved_due,
    case s.parent_task_id when $4::text then root.task_id else parent.copy_id end, root.created_by,
    -- Siblings without a position keep their order.
    now() + s.place * interval '1 microsecond', now() + s.place * interval '1 microsecond',
    case when s.moved_due is null then '{}' else add_people(s.due_people, people_of_caller($1::jsonb)) end
  from source s join key on key.item_id = s.copy_id
  cross join (select * from tasks where task_id = $5::text) root
  left join source parent on parent.task_id = s.parent_task_id
  returning task_id, title, team_id, project_id, created_at, task_json(tasks) as json
)
select record_changes($1::jsonb, array_agg(make_change(team_id => m.team_id, project_id => m.project_id,
    ${kindOfChange({ feature: 'tasks', action: 'create', entityType: 'task' })},
    entity_id => m.task_id, title => m.title, summary => 'created the task',
  details => jsonb_build_object('title', m.title), event_type => ${eventType('task.created')},
  payload => jsonb_build_object('task', m.json, 'changes', '{}'::jsonb)) order by m.created_at)) as audit_id
from made m`,
});
