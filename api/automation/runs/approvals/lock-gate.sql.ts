import { defineStatement } from '../../../../db/statement.js';
import { EXCLUDED, SIGNED_IN } from './excluded.sql.js';

/**
 * SQL over gates g and runs r: the hash of what a gate releases. A gate of an older version of the service has no text yet: the hash is of the
 * actions behind it, over PostgreSQL's own text of the jsonb, which is deterministic.
 */
export const STAGED_HASH = /* sql */ `
  coalesce(g.staged_hash, 'sha256:' || encode(sha256(convert_to(coalesce((select jsonb_agg(a.value order by a.n)
    from automation_versions v, jsonb_array_elements(v.actions) with ordinality as a(value, n)
    where v.automation_id = r.automation_id and v.version = r.automation_version and a.n - 1 > g.gate_index), '[]')::text, 'UTF8')), 'hex'))`;

/**
 * $1 = run id, $2 = gate index, or null for the run's latest gate, $3 = roles in which the creator may act. Runs after the run's
 * row is locked, so no decision can intervene. Locks the gate too, so that a concurrent revocation of an approval is counted correctly. Uses clock_timestamp()
 * because now() is the start of a transaction that may have waited for the lock.
 */
export const lockGateStatement = defineStatement({
  name: 'lock_gate',
  text: /* sql */ `
    select g.gate_index, g.required_role, g.required_approvals, ${EXCLUDED} as excluded, g.requested_at, g.expires_at, g.decision, g.decided_at,
      g.expires_at <= clock_timestamp() as expired, u.display_name as decided_by_name, ${STAGED_HASH} as staged_hash, g.staged, g.asks_again,
      ${SIGNED_IN} as signed_in,
      a.deleted_at is not null as automation_deleted,
      c.status = 'active' and (r.team_id is null or coalesce(m.role = any($3::text[]), false)) as creator_authorized,
      (select coalesce(json_agg(json_build_object('index', s.index, 'type', s.type, 'status', s.status, 'error', s.error) order by s.index), '[]')
        from run_actions s where s.run_id = r.run_id and s.status = 'failed') as failed
    from gates g join automation_runs r using (run_id) join automations a using (automation_id) join users c on c.user_id = r.creator_id
    left join memberships m on m.team_id = r.team_id and m.user_id = r.creator_id
    left join users u on u.user_id = g.decided_by
    where g.run_id = $1 and ($2::int is null or g.gate_index = $2) order by g.gate_index desc limit 1
    for update of g`,
});

/** Columns of the run that a decision needs. */
export const LOCKED_COLUMNS = [
  'run_id',
  'status',
  'automation_id',
  'automation_version',
  'automation_name',
  'team_id',
  'project_id',
  'creator_id',
  'incarnation',
  'is_test',
] as const;

/**
 * $1 = run id, $2 = caller id. Locks the run, then the caller, then the caller's membership; none of them changes until the
 * commit. A transaction that removes a role or suspends a user takes the same locks and revokes the user's approvals (void-approvals.ts).
 */
export const lockDecidedRunStatement = defineStatement({
  name: 'lock_decided_run',
  text: /* sql */ `
    with held as (
      select ${LOCKED_COLUMNS.join(', ')} from automation_runs where run_id = $1 for update
    ), caller as (
      select u.user_id from users u, held where u.user_id = $2 and u.status = 'active' for share of u
    ), seat as (
      select m.role from memberships m, held h, caller c where m.team_id = h.team_id and m.user_id = c.user_id for share of m
    )
    select h.*, exists (select from caller) as is_active, (select role from seat) as seat from held h`,
});
