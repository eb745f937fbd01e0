import type { Statement } from '../../../db/statement.js';

const WITHIN = /* sql */ `e.team_id = t.team_id and e.timestamp >= $2 and e.timestamp <= $3 and e.audit_id >= $4::uuid`;

/** $1 = teams, $2 = first time, $3 = last time, $4 = lowest id of that window. Counts by kind and day, from the index of kinds alone. */
export const statsByKindStatement: Statement = {
  name: 'audit_stats_by_kind',
  text: /* sql */ `
    select k.feature, k.action, k.severity, e.date, sum(e.count)::int as count
    from unnest($1::uuid[]) as t(team_id) cross join audit_kinds k cross join lateral (
      select left(e.timestamp, 10) as date, count(*) as count from audit_entries e
      where ${WITHIN} and e.feature = k.feature and e.action = k.action and e.severity = k.severity and e.entity_type = k.entity_type
      group by 1
    ) e group by 1, 2, 3, 4`,
};

/** The same parameters, $5 = limit. The most active users, from the index of users alone. */
export const statsByUserStatement: Statement = {
  name: 'audit_stats_by_user',
  text: /* sql */ `
    select e.user_id, count(*)::int as count from unnest($1::uuid[]) as t(team_id)
    join audit_entries e on ${WITHIN} and e.user_id is not null
    group by 1 order by 2 desc, 1 limit $5`,
};
