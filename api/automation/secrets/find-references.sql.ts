import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = team id, $2 = the name as in JSON, and the action types that need it unnamed. Reads the current definitions, active or
 * not, and the unfinished actions of open runs, which keep the version they started with.
 */
export const findReferencesStatement = defineStatement({
  name: 'find_secret_references',
  text: /* sql */ `
with live as (select automation_id, name, actions, created_at from automations where team_id = $1 and deleted_at is null),
definitions as (
  select automation_id, name, actions, created_at from live
  union all
  select live.automation_id, live.name,
    (select jsonb_agg(v.actions->s.index) from run_actions s
     where s.run_id = r.run_id and s.status not in ('succeeded', 'failed', 'skipped')), live.created_at
  from automation_runs r join live using (automation_id)
  join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
  where r.finished_at is null
)
select automation_id, name, actions from definitions
where exists (select from unnest($2::text[]) needle where strpos(actions::text, needle) > 0)
order by created_at, automation_id`,
});
