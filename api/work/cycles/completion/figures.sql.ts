import { defineStatement } from '../../../../db/statement.js';
import { IS_LEAF } from '../../tasks/read/leaf.sql.js';
import { MAX_DAYS } from '../rules.js';

/** $1 = cycle id. What the cycle commits to, at its start. */
export const commitTasksStatement = defineStatement({
  name: 'commit_cycle_tasks',
  text: /* sql */ `
    update cycle_tasks ct set committed = true, points = own.estimated_hours
    from (
      select c.task_id, leaf.estimated_hours from cycle_tasks c cross join lateral (
        -- \`offset 0\`: each task by its key, also where PostgreSQL does not know yet how many there are.
        select t.estimated_hours from tasks t where t.task_id = c.task_id and t.deleted_at is null and ${IS_LEAF} offset 0
      ) leaf
      where c.cycle_id = $1 and c.removed_at is null
    ) own
    where ct.cycle_id = $1 and ct.task_id = own.task_id and ct.removed_at is null`,
});

/**
 * $1 = cycle id whose tasks are locked, $2 = whether open tasks with subtasks are asked for. Marks what is completed, and lets tasks in the trash leave,
 * so a restored one is in the backlog. Returns the ids of the open tasks, which roll over, and of those with subtasks.
 */
export const closeStaysStatement = defineStatement({
  name: 'close_cycle_stays',
  text: /* sql */ `
    with live as materialized (
      select t.task_id, t.status = 'done' as done, ${IS_LEAF} as leaf from tasks t where t.cycle_id = $1 and t.deleted_at is null
    ), completed as (
      update cycle_tasks ct set outcome = 'completed' from live l
      where l.done and l.leaf and ct.cycle_id = $1 and ct.task_id = l.task_id and ct.removed_at is null
    ), trashed as (
      update tasks t set cycle_id = null where t.cycle_id = $1 and t.deleted_at is not null returning t.task_id
    ), gone as (
      update cycle_tasks ct set removed_at = clock_timestamp() from trashed t
      where ct.cycle_id = $1 and ct.task_id = t.task_id and ct.removed_at is null
    )
    select coalesce(array_agg(l.task_id order by l.task_id) filter (where l.leaf), '{}') as open_ids,
      coalesce(array_agg(l.task_id order by l.task_id) filter (where not l.leaf and $2::boolean), '{}') as parent_ids
    from live l where not l.done`,
});

/** $1 = id of a completed cycle that was imported. Its live tasks were in it from its start; what is open counts as carried over, and stays. */
export const pastStaysStatement = defineStatement({
  name: 'past_cycle_stays',
  text: /* sql */ `
    update cycle_tasks ct set added_at = c.started_at,
      outcome = case when not own.leaf then null when own.done then 'completed' else 'carried_over' end
    from cycles c cross join lateral (
      select t.task_id, t.status = 'done' as done, ${IS_LEAF} as leaf from tasks t where t.cycle_id = c.cycle_id and t.deleted_at is null
    ) own
    where c.cycle_id = $1 and ct.cycle_id = c.cycle_id and ct.task_id = own.task_id and ct.removed_at is null`,
});

/** $1 = id of a completed cycle, $2 = snapshot (jsonb). */
export const storeFiguresStatement = defineStatement({
  name: 'store_cycle_figures',
  text: "update cycles set snapshot = $2::jsonb where cycle_id = $1 and status = 'completed'",
});

/**
 * $1 = cycle id, $2 = whether its stays are closed. Figures and burn-down of a started cycle, from its first day, or from its start if that was
 * before. Until then a task counts as it is now, so a task that is reopened changes earlier days. A task in and out on one day never counts as open. `limit 1` keeps the planner from reading the
 * tasks of all teams for a cycle of thousands.
 */
export const figuresStatement = defineStatement({
  name: 'cycle_figures',
  text: /* sql */ `
    with period as materialized (
      select c.cycle_id, c.started_at, ended.day as last,
        greatest(least((c.started_at at time zone 'utc')::date, c.start_date), ended.day - ${MAX_DAYS - 1}) as first
      from cycles c cross join lateral (select (coalesce(c.completed_at, now()) at time zone 'utc')::date as day) ended
      where c.cycle_id = $1
    ), stays as materialized (
      select ct.committed, ct.points, t.estimated_hours, t.estimate,
        -- What was in the cycle at a late start was there from its first day.
        case when ct.added_at > p.started_at then (ct.added_at at time zone 'utc')::date end as entered,
        case when ct.outcome is null then (ct.removed_at at time zone 'utc')::date end as gone,
        case when t.status = 'done' then (t.completed_at at time zone 'utc')::date end as done_on,
        case when $2::boolean then ct.outcome = 'completed' else t.status = 'done' end as done,
        -- Canceled tasks and duplicates are no work any more: neither completed nor left.
        t.resolution is null and
          case when $2 then ct.outcome is not null else ct.removed_at is null and t.deleted_at is null and ${IS_LEAF} end as present,
        ct.outcome is not null or t.deleted_at is null and ${IS_LEAF} as counts,
        (ct.outcome is not null or t.deleted_at is null) and t.estimate is not null as has_size,
        -- Each estimate counts, also that of a task with subtasks, which has no outcome.
        t.resolution is null and (ct.outcome is not null or ct.removed_at is null and t.deleted_at is null) as sized,
        case when ct.outcome is null then t.status = 'done' else ct.outcome = 'completed' end as finished
      from cycle_tasks ct cross join period p cross join lateral (
        select f.task_id, f.status, f.resolution, f.estimated_hours, f.estimate, f.completed_at, f.deleted_at from tasks f where f.task_id = ct.task_id limit 1
      ) t
      where ct.cycle_id = $1
    ), steps as (
      select x.day, coalesce(sum(x.step) filter (where s.counts), 0) as step,
        coalesce(sum(x.step * s.estimate) filter (where s.has_size), 0) as size from stays s cross join period p cross join lateral (values
        (greatest(s.entered, p.first), 1), (greatest(least(s.gone, s.done_on, p.last), s.entered, p.first), -1)) x(day, step)
      where (s.counts or s.has_size) and (x.step = 1 or coalesce(s.gone, s.done_on) is not null) group by x.day
    ), days as (
      select p.first + n as day, sum(coalesce(s.step, 0)) over (order by n) as remaining, sum(coalesce(s.size, 0)) over (order by n) as size
      from period p cross join lateral generate_series(0, p.last - p.first) n left join steps s on s.day = p.first + n
    )
    select json_strip_nulls(json_build_object(
      'committed', count(*) filter (where committed), 'added', count(*) filter (where present and not committed),
      'completed', count(*) filter (where present and done), 'carried_over', count(*) filter (where $2 and present and not done),
      'points', json_build_object('committed', coalesce(sum(points) filter (where committed), 0),
        'completed', coalesce(sum(estimated_hours) filter (where present and done), 0)),
      'estimate', case when count(estimate) filter (where sized) > 0 then json_build_object('scope', sum(estimate) filter (where sized),
        'completed', coalesce(sum(estimate) filter (where sized and finished), 0),
        'without', count(*) filter (where present and not done and estimate is null)) end,
      'days', (select coalesce(json_agg(json_build_object('date', day, 'remaining', remaining,
        'estimate', case when (select bool_or(has_size) from stays) then size end) order by day), '[]') from days))) as figures
    from stays`,
});
