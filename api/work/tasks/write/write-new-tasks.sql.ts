import { defineStatement, type Statement } from '../../../../db/statement.js';
import { hasSubscriber } from '../../../platform/events/has-subscriber.sql.js';
import { eventType, kindOfChange } from '../../../platform/changes/make-change.sql.js';
import { declareColumn, initialValue, INSERTED_COLUMNS } from '../columns.js';
import { misplacedStageSql } from './misplaced-resolution.js';

/** Included only if needed: it costs time even if no item has a parent. */
const DEPTH_OK = /* sql */ `case when g.parent_task_id is null then true else (
      with recursive ancestors as (
        select t.parent_task_id, 1 as level from tasks t where t.task_id = g.parent_task_id
        union all
        select t.parent_task_id, a.level + 1 from ancestors a join tasks t on t.task_id = a.parent_task_id where a.level <= $3::int
      )
      select coalesce(max(level), 0) < $3::int from ancestors
    ) end`;

/** A stage brings its status, and goes with no resolution. */
const STAGED = /* sql */ `coalesce(stage.status, ${initialValue('g', 'status')}) as new_status,
    g.stage_id is null or stage.status = coalesce(g.status, stage.status) and g.resolution is null as stage_ok,
    stage.name as stage_name, stage.status as stage_status`;

/** Trace of a created task. */
const CHANGE = /* sql */ `make_change(team_id => m.team_id, project_id => m.project_id,
    ${kindOfChange({ feature: 'tasks', action: 'create', entityType: 'task' })},
    entity_id => m.task_id, title => m.title, summary => 'created the task',
    details => jsonb_build_object('title', m.title), event_type => ${eventType('task.created')},
    payload => jsonb_build_object('task', m.json, 'changes', '{}'::jsonb))`;
/** Fields of an item, as the statement takes them. */
const GIVEN = [
  'index integer',
  'caller integer',
  'task_id text',
  'number integer',
  'created_at timestamptz',
  'completed_at timestamptz',
  ...INSERTED_COLUMNS.map(declareColumn),
].join(', ');
/** An import keeps when a task was created, unless its file names a time to come. */
const CREATED_AT = 'coalesce(least(v.created_at, v.at), v.at)';
const VALUES = INSERTED_COLUMNS.map((name) => (name === 'status' ? 'v.new_status' : initialValue('v', name))).join(', ');

/** The task that has the id of an item already. */
const OLD = /* sql */ `left join lateral (
  select task_json(t)::text as json, t.project_id = v.project_id and t.deleted_at is null as replay
  from tasks t where v.taken and t.task_id = v.task_id limit 1
) old on true`;

/**
 * Creates any number of tasks in one statement; usually one. $1 = callers (jsonb array), $2 = fields of the tasks (jsonb array;
 * `index` = position in the list, `caller` = position of its caller in $1), $3 = maximum depth, $4 = roles that may create. Returns one row per item, in no
 * order; its flags distinguish the outcomes; `created` or `stored` is set if a row was inserted or already existed. Locks: FOR
 * KEY SHARE on project and memberships; trashing or removing one takes FOR UPDATE first, so permissions read here hold until the
 * commit. If items name a parent, the caller has locked the project in an earlier statement (keyShareLockProjects), so the parent
 * stays. Each item is looked up by itself (lateral), so the plan is a chain of index scans for any number of items. `nested`:
 * some items name a parent. `shared`: items of several callers, who must not wait for each other's projects; a locked row counts
 * as not found.
 */
const statement = (name: string, { nested = false, shared = false }): Statement => {
  const lock = shared ? 'for key share skip locked' : 'for key share';
  return defineStatement({
    name,
    text: /* sql */ `
with given as materialized (
  select g.*, coalesce(g.task_id, uuidv7()::text) as id, ($1::jsonb->g.caller->>'user_id')::uuid as user_id,
    -- Tasks of one call are listed in the order sent.
    now() + g.index * interval '1 microsecond' as at
  from jsonb_to_recordset($2::jsonb) as g(${GIVEN})
), verdict as materialized (
  select g.*, place.team_id, place.team_id is not null as project_found, seat.role as seat,
    g.assigned_to is null or assignee.found as assignee_ok, g.parent_task_id is null or parent.here is not null as parent_found,
    g.parent_task_id is null or parent.here as parent_ok,
    ${nested ? DEPTH_OK : '$3::int > 0'} as depth_ok,
    ${STAGED},
    -- No EXISTS, and a limit on the single parent: otherwise the planner reads all keys, or a small task table whole.
    (select true from item_keys k where k.item_id = g.task_id) is not null as taken
  from given g
  left join lateral (
    select p.team_id from projects p where p.project_id = g.project_id and p.deleted_at is null ${lock}
  ) place on true
  left join lateral (
    select m.role from memberships m where m.team_id = place.team_id and m.user_id = g.user_id ${lock}
  ) seat on true
  left join lateral (
    select true as found from memberships m where m.team_id = place.team_id and m.user_id = g.assigned_to ${lock}
  ) assignee on true
  left join lateral (
    select t.project_id = g.project_id as here from tasks t where t.task_id = g.parent_task_id and t.deleted_at is null limit 1
  ) parent on true
  left join lateral (
    select s.name, s.status from stages s where s.stage_id = g.stage_id and s.team_id = place.team_id ${lock}
  ) stage on true
), key as (
  insert into item_keys (item_id, item_type)
  select id, 'task' from verdict
  -- Coalesced: the planner assumes that each condition is selective, expects three rows of 500, and picks a nested loop.
  where coalesce(project_found and seat = any($4::text[]) and assignee_ok and parent_ok and depth_ok and stage_ok and not taken, false)
  on conflict do nothing returning item_id
), made as (
  insert into tasks (task_id, team_id, number, ${INSERTED_COLUMNS.join(', ')},
    created_by, created_at, updated_at, completed_at, due_set_by)
  select v.id, v.team_id, v.number, ${VALUES}, v.user_id, ${CREATED_AT}, v.at,
    case v.new_status when 'done' then coalesce(least(greatest(v.completed_at, ${CREATED_AT}), v.at), v.at) end,
    case when v.due_date is null then '{}' else people_of_caller($1::jsonb->v.caller) end
  from key join verdict v on v.id = key.item_id
  returning task_id, title, team_id, project_id, task_json(tasks) as json
), recorded as (
  select record_changes_of(array_agg($1::jsonb->v.caller), array_agg(${CHANGE})) as ids from made m join verdict v on v.id = m.task_id
)
select v.index, v.id as task_id, v.project_found, v.seat, v.assignee_ok, v.parent_found, v.parent_ok, v.depth_ok, v.taken,
  ${misplacedStageSql('v.status', 'v.resolution')},
  m.json::text as created, old.replay, old.json as stored, (select cardinality(ids) from recorded) as recorded,
  m.task_id is not null and (v.recurrence is not null or ${hasSubscriber('task.created', 'v.team_id', 'v.user_id')}) as notify
from verdict v left join made m on m.task_id = v.id
${OLD}`,
  });
};

const plain = statement('create_tasks', {});
const nested = statement('create_nested_tasks', { nested: true });

/** Returns the statement for one caller's items, with or without parents. */
export const createTasksStatement = (parents: boolean): Statement => (parents ? nested : plain);

/** The statement for items of several callers, without parents. */
export const createTasksOfManyStatement = statement('create_tasks_of_many', { shared: true });
