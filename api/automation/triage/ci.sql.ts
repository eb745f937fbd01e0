import { defineStatement } from '../../../db/statement.js';

/** $1 = receipt id, $2 = team id. The delivery, if the CI triage of the live team is enabled. */
export const failureStatement = defineStatement({
  name: 'ci_triage_failure',
  text: /* sql */ `
    select d.event, d.payload, d.received_at from (
      select event, payload, received_at from forge_deliveries where receipt_id = $1
      union all select event, payload, received_at from forge_address_deliveries where receipt_id = $1
    ) d
    join agent_settings s on s.team_id = $2 and s.ci_enabled join teams t on t.team_id = s.team_id and t.deleted_at is null`,
});

/**
 * $1 = repository, $2 = team id, $3 = time of the delivery. Bindings of the team that are older than the delivery, with the user who created
 * each: those with a live project first, oldest first.
 */
export const bindingsStatement = defineStatement({
  name: 'ci_triage_bindings',
  text: /* sql */ `
    select p.project_id, u.user_id, u.email, u.role, u.status = 'active' as is_active
    from forge_repositories r join users u on u.user_id = r.created_by
    left join projects p on p.project_id = r.project_id and p.deleted_at is null
    where r.repo = $1 and r.team_id = $2 and r.created_at <= $3
    order by p.project_id is null, r.created_at, r.binding_id limit 20`,
});

/** $1 = team id, $2 = limit. Number of staged plans of failed runs in a team, at most the limit. */
export const stagedFailuresStatement = defineStatement({
  name: 'ci_triage_staged',
  text: /* sql */ `
    select count(*)::int as staged from (
      select from agent_plans p where p.team_id = $1 and p.source = 'ci_failure_triage' and p.status = 'staged' limit $2
    ) few`,
});

/** $1 = team id, $2 = repository, $3 = commit. Whether a run of the same commit has its plan: its checks fail for the same reason. */
export const triagedCommitStatement = defineStatement({
  name: 'ci_triaged_commit',
  text: /* sql */ `
    select exists (
      select from agent_plans p join agent_sessions s using (session_id)
      where s.team_id = $1 and s.kind = 'ci_triage' and p.trigger->>'repo' = $2 and p.trigger->>'sha' = $3
        and p.staged_at > now() - interval '1 day'
    ) as found`,
});
