import { defineStatement } from '../../../db/statement.js';

/** Tasks in one row of the outbox. */
const TASKS_PER_EVENT = 100;
/** Bytes of a task in it; of a larger one the receiver reads the record. */
const MAX_TASK_BYTES = 4_000;

/**
 * $1 = caller (jsonb), $2 = event type, $3 = cascade id, $4 = team id, $5 = task ids, after their change. Writes rows of the outbox, each with
 * a page of tasks, if the team has a subscriber.
 */
export const enqueueCascadeStatement = defineStatement({
  name: 'enqueue_cascade',
  text: /* sql */ `
    select enqueue_events($1::jsonb, array(
      select make_change(team_id => $4::uuid, project_id => m.project_id, feature => null, action => null, entity_type => null,
        entity_id => null, event_type => $2::text,
        payload => jsonb_build_object('cascade_id', $3::uuid, 'tasks', jsonb_agg(m.task order by m.place)))
      from (
        select t.project_id, given.place, case when octet_length(j.task::text) <= ${MAX_TASK_BYTES} then j.task::jsonb
          else jsonb_build_object('task_id', t.task_id, 'thin', true) end as task
        from unnest($5::text[]) with ordinality as given(task_id, place) join tasks t using (task_id)
        cross join lateral (select task_json(t) as task offset 0) j
      ) m group by m.project_id, (m.place - 1) / ${TASKS_PER_EVENT}))
    where exists (select from event_subscriptions s where s.owner_id = $4::uuid and $2::text = any(s.event_types))`,
});
