import { defineStatement } from '../../../db/statement.js';

/** $1 = caller id, $2 = run ids. */
export const aboutRunsStatement = defineStatement({
  name: 'about_runs',
  text: /* sql */ `
    select r.run_id, r.team_id, r.creator_id, r.trigger_type, r.triggered_by, r.finished_at is not null as is_finished,
      case when r.status = 'paused' then r.gate_expires_at end as gate_expires_at,
      (extract(epoch from coalesce(r.finished_at, now()) - r.started_at) * 1000)::float8 as duration_ms
    from automation_runs r
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where r.run_id = any($2::uuid[]) and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    union all
    select s.run_id, a.team_id, a.created_by, a.trigger_type, s.triggered_by, true, null, null
    from skipped_runs s join automations a using (automation_id)
    left join memberships m on m.team_id = a.team_id and m.user_id = $1
    where s.run_id = any($2::uuid[]) and (m.role is not null or (a.team_id is null and a.created_by = $1))`,
});
