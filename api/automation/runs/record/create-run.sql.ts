import { defineStatement } from '../../../../db/statement.js';

/**
 * Creates runs, their actions and their outbox rows in one statement and, outside a transaction, one commit. $1 = runs (jsonb
 * array), $2 = the events they share (jsonb array, indexed by `event_index`), $3 = lease in seconds if the caller dispatches the
 * starts itself, else null. Locks the automations FOR SHARE: a deletion takes FOR NO KEY UPDATE, so no run appears after it.
 */
export const createRunsStatement = defineStatement({
  name: 'create_runs',
  text: /* sql */ `
with given as materialized (
  select g.*, $2::jsonb->g.event_index->'event' as event, ($2::jsonb->g.event_index->>'truncated')::boolean as event_truncated
  from jsonb_to_recordset($1::jsonb) as g(event_index int, run_id uuid, automation_id uuid, automation_version int,
    automation_name text, trigger_type text, condition_error text, is_test boolean, triggered_by uuid, depth int, retry_of uuid,
    first_run_id uuid, correlation_id uuid, skip_reason text, skip_indexes int[], cause_user_ids uuid[])
), live as (
  select a.automation_id, a.team_id, a.project_id, a.created_by from automations a
  where a.automation_id in (select automation_id from given) and a.deleted_at is null order by a.automation_id
  for share
), made as (
  insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, status,
    skip_reason, trigger_type, event, event_truncated, condition_error, is_test, triggered_by, depth, retry_of, first_run_id,
    correlation_id, cause_user_ids, finished_at)
  select g.run_id, g.automation_id, g.automation_version, g.automation_name, a.team_id, a.project_id, a.created_by,
    case when g.skip_reason is null then 'queued' else 'skipped' end, g.skip_reason, g.trigger_type,
    g.event, g.event_truncated, g.condition_error, g.is_test, g.triggered_by, g.depth, g.retry_of, g.first_run_id, g.correlation_id,
    g.cause_user_ids, case when g.skip_reason is not null then now() end
  from given g join live a using (automation_id)
  on conflict do nothing
  returning run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, trigger_type, depth, is_test,
    skip_reason, correlation_id, triggered_by, retry_of
), steps as (
  insert into run_actions (run_id, index, type, name, on_failure, status)
  select m.run_id, a.n - 1, a.value->>'type', a.value->>'name', coalesce(a.value->>'on_failure', 'continue'),
    case when m.skip_reason is not null or a.n - 1 = any(g.skip_indexes) then 'skipped' else 'pending' end
  from made m join given g using (run_id)
  join automation_versions v on v.automation_id = m.automation_id and v.version = m.automation_version
  cross join lateral jsonb_array_elements(v.actions) with ordinality as a(value, n)
  returning run_id, index, type, name, status
), steps_of as (
  select run_id, json_agg(json_build_object('index', index, 'type', type, 'label', coalesce(name, type)) order by index)
    filter (where status <> 'skipped') as steps
  from steps group by run_id
), starts as (
  insert into outbox (kind, subject, team_id, actor_id, payload, correlation_id, attempts, next_attempt_at)
  select 'run.start', m.run_id::text, m.team_id, m.creator_id, jsonb_build_object('run_id', m.run_id, 'incarnation', 1), m.correlation_id,
    case when $3::int is null then 0 else 1 end, now() + make_interval(secs => coalesce($3::int, 0))
  from made m where m.skip_reason is null
  returning outbox_id, payload, (payload->>'run_id')::uuid as run_id
)
select m.run_id, case when o.outbox_id is not null then json_build_object('outbox_id', o.outbox_id, 'payload', o.payload,
  'correlation_id', m.correlation_id, 'run_id', m.run_id, 'automation_id', m.automation_id, 'automation_name', m.automation_name,
  'team_id', m.team_id, 'project_id', m.project_id, 'creator_id', m.creator_id, 'trigger_type', m.trigger_type, 'depth', m.depth,
  'is_test', m.is_test, 'triggered_by', m.triggered_by, 'retry_of', m.retry_of, 'steps', coalesce(s.steps, '[]')) end as start
from made m left join starts o using (run_id) left join steps_of s using (run_id)`,
});
