import type { Statement } from '../../../db/statement.js';

/** What a gate's row says now, by the database's clock. $1 run, $2 gate index, $3 days until a lapsed gate ends its run. */
export const readGateStatement: Statement = {
  name: 'read_gate',
  text: /* sql */ `
    with lapsed as (
      -- Only a mark: whether an approval is still in time is judged when it is made, by "expires_at" itself.
      update gates set lapsed_at = now()
      where run_id = $1 and gate_index = $2 and decision is null and lapsed_at is null and expires_at <= now()
    )
    select r.status, r.finished_at is not null as finished, g.decision, g.required_role, g.expires_at, g.decided_at,
      g.expires_at <= now() as expired,
      g.expires_at + make_interval(days => $3::int) <= now() as overdue,
      ceil(extract(epoch from (case when g.expires_at > now() then g.expires_at else g.expires_at + make_interval(days => $3::int) end)
        - now()) * 1000)::bigint as ms_left
    from gates g join automation_runs r using (run_id) where g.run_id = $1 and g.gate_index = $2`,
};
