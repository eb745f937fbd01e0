import { defineStatement } from '../../../../db/statement.js';
import { eventType } from '../../../platform/changes/make-change.sql.js';
import { PEOPLE_OF_DUE } from '../../../platform/events/due-people.sql.js';

/** Tasks announced by one call of the statement. */
export const BATCH = 500;

/** When a due date has passed: its moment, or the end of its day in UTC. Texts of ten characters are days. */
const ENDS = `case when length(t.due_date) = 10 then t.due_date::date + interval '1 day' else t.due_date::timestamptz end`;

/**
 * Marks tasks and enqueues their events in one statement, so that each due date is announced once, however often this runs.
 * $1 = `due_soon` or `overdue`. A late run still announces overdue tasks.
 */
export const announceDueStatement = defineStatement({
  name: 'announce_due',
  text: /* sql */ `
  with due as (
    select t.task_id, t.due_date, t.team_id, t.project_id, ${PEOPLE_OF_DUE} as people, task_json(t)::jsonb as task from tasks t
    where t.deleted_at is null and t.status <> 'done' and not t.is_archived and t.due_date is not null
      and t.due_date < to_char((now() + interval '2 days') at time zone 'utc', 'YYYY-MM-DD')
      and case $1::text when 'overdue' then ${ENDS} <= now() else ${ENDS} > now() and ${ENDS} <= now() + interval '1 day' end
      and not exists (select from task_due_events m where m.task_id = t.task_id and m.kind = $1 and m.due_date = t.due_date)
    limit ${BATCH}
  ), marked as (
    -- In the order of ids, so that two scans at once wait for each other only one way.
    insert into task_due_events (task_id, kind, due_date) select task_id, $1, due_date from due order by task_id
    on conflict do nothing returning task_id
  ), sent as (
    -- No user acts here, but at a gate without self-approval the run belongs to those who made the task come due.
    select enqueue_events(jsonb_build_object('correlation_id', uuidv7(), 'cause_user_ids', to_jsonb(due.people)), array[make_change(team_id => team_id, project_id => project_id,
      feature => null, action => null, entity_type => null, entity_id => null,
      event_type => case $1::text when 'overdue' then ${eventType('task.overdue')} else ${eventType('task.due_soon')} end,
      payload => jsonb_build_object('task', task, 'changes', '{}'::jsonb))]) as events
    from due join marked using (task_id)
  )
  select (select count(*)::int from marked) as count, (select sum(events)::int from sent) as events`,
});
