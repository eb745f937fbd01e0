import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = run ids, $2 = most bytes of a text. Selects the open gate of each run with what it releases: the text is null if it is longer, or not
 * staged. The caller has checked who reads.
 */
export const describeGatesStatement = defineStatement({
  name: 'describe_gates',
  text: /* sql */ `
    select r.run_id, g.gate_index, r.team_id, r.creator_id, g.requested_at, g.staged_hash,
      case when octet_length(g.staged) <= $2 then g.staged end as staged,
      (select count(*)::int from run_actions a where a.run_id = r.run_id and a.status = 'staged') as waiting
    from automation_runs r cross join lateral (
      select * from gates g where g.run_id = r.run_id and g.decision is null order by g.gate_index limit 1
    ) g
    where r.run_id = any($1::uuid[]) and r.status = 'paused'`,
});
