import { defineStatement, type Statement } from '../../../../db/statement.js';
import { kindOfChange } from '../../../platform/changes/make-change.sql.js';

/**
 * Discards staged plans that nobody can confirm any more, each with its trace, and wakes their workflows. $1 = caller (jsonb), $2 = reason,
 * $3 = plan that supersedes them or null. `condition` selects plans p; its parameters begin at $4.
 */
const statement = (name: string, condition: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with closed as (
      update agent_plans p set status = 'discarded', closed_reason = $2, superseded_by = $3::uuid, decided_at = clock_timestamp()
      where p.status = 'staged' and ${condition}
      returning p.action_id, p.source, p.team_id, p.team_ids, p.project_id, p.incarnation, p.correlation_id
    ), woken as (
      insert into outbox (kind, subject, payload, correlation_id)
      select 'plan.wake', c.action_id::text, jsonb_build_object('action_id', c.action_id, 'incarnation', c.incarnation), c.correlation_id
      from closed c
    ), recorded as (
      select record_changes($1::jsonb, array_agg(make_change(team_id => coalesce(c.team_id, c.team_ids[1]), project_id => c.project_id,
        ${kindOfChange({ feature: 'ai_agent', action: 'discard', entityType: 'agent_plan' })}, entity_id => c.action_id::text,
        details => jsonb_build_object('reason', $2::text, 'superseded_by', $3::uuid)))) as audit_id
      from closed c having count(*) > 0
    )
    select coalesce(array_agg(source), '{}') as sources, (select count(audit_id) from recorded) as recorded from closed`,
  });

/** $4 = session id. */
export const closeOfSessionStatement = statement('close_plans_of_session', 'p.session_id = $4');
/** $4 = token ids. */
export const closeOfTokensStatement = statement('close_plans_of_tokens', 'p.token_id = any($4::uuid[])');
/** $4 = team id. Plans of the team, and those that would change something in it. */
export const closeOfTeamStatement = statement('close_plans_of_team', '(p.team_id = $4::uuid or p.team_ids @> array[$4::uuid])');
/** $4 = user id, $5 = team id. Own plans of a user that would change something in the team. */
export const closeOfOwnerInTeamStatement = statement(
  'close_plans_of_owner_in_team',
  'p.owner_id = $4 and p.team_ids @> array[$5::uuid]',
);
/** $4 = plan ids. */
export const closePlansStatement = statement('close_plans', 'p.action_id = any($4::uuid[])');
