import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = team id, $2 = roles that may write. Settings of a team, with this month's use and whether the user who enabled the overnight triage
 * may still write.
 */
export const readSettingsStatement = defineStatement({
  name: 'read_agent_settings',
  text: /* sql */ `
    select coalesce(s.overnight_enabled, false) as overnight_enabled, s.overnight_cron, s.overnight_timezone, s.overnight_enabled_by,
      coalesce(s.ci_enabled, false) as ci_enabled, s.monthly_message_quota, coalesce(s.external_model, false) as external_model,
      exists (
        select from memberships m join users u using (user_id)
        where m.team_id = t.team_id and m.user_id = s.overnight_enabled_by and m.role = any($2::text[]) and u.status = 'active'
      ) as may_write,
      to_char(month.first, 'YYYY-MM-DD') as month, coalesce(use.messages, 0) as messages, coalesce(use.input_tokens, 0) as input_tokens,
      coalesce(use.output_tokens, 0) as output_tokens, coalesce(use.cost_micro, 0) as cost_micro
    from teams t
    cross join (select date_trunc('month', now() at time zone 'UTC')::date as first) month
    left join agent_settings s using (team_id)
    left join agent_usage use on use.team_id = t.team_id and use.month = month.first
    where t.team_id = $1`,
});
