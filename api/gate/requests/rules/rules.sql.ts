import { defineStatement } from '../../../../db/statement.js';

const RULES = /* sql */ `
  (select coalesce(json_agg(to_jsonb(u) - 'team_id' - 'position' order by u.position), '[]') from request_rules u where u.team_id = t.team_id)`;

/** $1 = team id. The rules in order, and how often they were replaced. */
export const readRulesStatement = defineStatement({
  name: 'read_request_rules',
  text: /* sql */ `
    select ${RULES} as rules, coalesce((select v.version from request_rule_versions v where v.team_id = t.team_id), 0) as version
    from teams t where t.team_id = $1`,
});

/** $1 = team id. Two admins who save at once do so one after the other. */
export const lockRulesStatement = defineStatement({
  name: 'lock_request_rules',
  text: /* sql */ `
    insert into request_rule_versions (team_id) values ($1)
    on conflict (team_id) do update set version = request_rule_versions.version returning version`,
});

/** $1 = team id. */
export const deleteRulesStatement = defineStatement({
  name: 'delete_request_rules',
  text: 'delete from request_rules where team_id = $1',
});

/** $1 = team id, $2 = rules in order (jsonb array). */
export const insertRulesStatement = defineStatement({
  name: 'insert_request_rules',
  text: /* sql */ `
    with stored as (
      insert into request_rules (team_id, position, system, name, target, role, approvals, allow_self, require_code, is_denied, max_use_seconds)
      select $1, n - 1, u.system, u.name, u.target, u.role, u.approvals, u.allow_self, u.require_code, u.is_denied, u.max_use_seconds
      from jsonb_array_elements($2::jsonb) with ordinality as e(rule, n) cross join lateral jsonb_to_record(e.rule)
        as u(system text, name text, target text, role text, approvals integer, allow_self boolean, require_code boolean, is_denied boolean,
          max_use_seconds integer)
    )
    update request_rule_versions set version = version + 1 where team_id = $1 returning version`,
});
