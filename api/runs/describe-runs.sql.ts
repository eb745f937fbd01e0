import type { Statement } from '../../db/statement.js';

/** Largest parameters of an action in a list, bytes; the run's page shows all. */
const MAX_PARAMS_BYTES = 4_000;

/** $1 = caller id, $2 = run ids. Selects the staged actions whole, or without their parameters: both can be large. */
export const aboutRunsStatement: Statement = {
  name: 'about_runs',
  text: /* sql */ `
    select r.run_id, r.team_id, r.project_id, r.creator_id, r.trigger_type, r.triggered_by, r.finished_at is not null as is_finished,
      case when r.status = 'paused' then r.gate_expires_at end as gate_expires_at,
      (extract(epoch from coalesce(r.finished_at, now()) - r.started_at) * 1000)::float8 as duration_ms,
      (select coalesce(json_agg(json_build_object('type', a.type, 'name', a.name, 'params',
          case when octet_length(p.params::text) <= ${MAX_PARAMS_BYTES} then p.params end) order by a.index), '[]')
        from run_actions a cross join lateral (select coalesce(v.actions -> a.index -> 'params', '{}') as params) p
        where a.run_id = r.run_id and a.status = 'staged') as actions
    from automation_runs r
    left join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where r.run_id = any($2::uuid[]) and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    union all
    select s.run_id, a.team_id, a.project_id, a.created_by, a.trigger_type, s.triggered_by, true, null, null, '[]'
    from skipped_runs s join automations a using (automation_id)
    left join memberships m on m.team_id = a.team_id and m.user_id = $1
    where s.run_id = any($2::uuid[]) and (m.role is not null or (a.team_id is null and a.created_by = $1))`,
};
