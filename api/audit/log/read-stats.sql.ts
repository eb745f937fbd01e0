import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = teams, $2 = first date, $3 = number of users. Counts by kind and date, and the most active users, of all sealed entries from that date
 * on: those that the sealer has counted, and those behind them, fewer than a thousand a team.
 */
export const statsStatement = defineStatement({
  name: 'audit_stats',
  text: /* sql */ `
    with counted as (
      select t.chain, coalesce(c.sequence, 0) as sequence from unnest($1::uuid[]) as t(chain) left join audit_counted c using (chain)
    ), rest as materialized (
      select left(e.timestamp, 10) as date, e.feature, e.action, e.severity, e.user_id
      from counted c
      -- Fewer than the limit; with it the order of the index is the only plan, however large the table is.
      cross join lateral (
        select s.audit_id from audit_seals s where s.chain = c.chain and s.sequence > c.sequence order by s.sequence limit 2000
      ) s
      cross join lateral (select * from audit_entries where audit_id = s.audit_id limit 1) e
      where e.timestamp >= $2
    ), kinds as (
      select k.date, k.feature, k.action, k.severity, k.count from audit_kind_counts k where k.chain = any($1) and k.date >= $2
      union all select date, feature, action, severity, 1 from rest
    ), users as (
      select u.user_id, u.count from audit_user_counts u where u.chain = any($1) and u.date >= $2
      union all select user_id, 1 from rest where user_id is not null
    )
    select
      (select coalesce(json_agg(k), '[]') from (
        select date, feature, action, severity, sum(count)::int as count from kinds group by date, feature, action, severity
      ) k) as kinds,
      (select coalesce(json_agg(u order by u.count desc, u.user_id), '[]') from (
        select user_id, sum(count)::int as count from users group by user_id order by 2 desc, 1 limit $3
      ) u) as users`,
});
