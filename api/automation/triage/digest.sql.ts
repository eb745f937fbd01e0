import { defineStatement } from '../../../db/statement.js';

/** Users mailed per transaction. */
export const BATCH = 100;
/** First and last hour, in the user's zone, at which the email of a morning is written. */
const MORNING = '7 and 11';

/**
 * $1 = roles that may confirm, $2 = roles that may confirm a plan of high risk. Claims users for whose morning nothing was mailed yet, although
 * a plan of a team waits for them that is newer than their last email. Returns all plans that wait for them, high risk first.
 */
export const claimDigestsStatement = defineStatement({
  name: 'claim_plan_digests',
  text: /* sql */ `
    with waiting as materialized (
      select p.action_id, p.team_id, t.name as team, p.source, p.risk, p.summary, p.staged_at,
        (select count(*)::int from agent_actions a where a.action_id = p.action_id) as changes
      from agent_plans p join teams t on t.team_id = p.team_id and t.deleted_at is null
      where p.status = 'staged' and p.team_id is not null and p.expires_at > now()
    ), people as (
      select m.user_id, max(w.staged_at) as newest,
        json_agg(json_build_object('team', w.team, 'source', w.source, 'risk', w.risk, 'summary', w.summary, 'changes', w.changes)
          order by w.risk = 'high' desc, w.staged_at, w.action_id) as plans
      from waiting w join memberships m on m.team_id = w.team_id and m.role = any(case w.risk when 'high' then $2::text[] else $1::text[] end)
      group by m.user_id
    ), due as (
      select p.user_id, u.email, u.display_name, p.plans, clock.local::date as day
      from people p join users u on u.user_id = p.user_id and u.status = 'active'
      left join agent_digests d on d.user_id = p.user_id
      -- A zone that PostgreSQL does not know counts as UTC.
      left join pg_timezone_names z on z.name = u.preferences->>'timezone'
      cross join lateral (select now() at time zone coalesce(z.name, 'UTC') as local) clock
      where extract(hour from clock.local) between ${MORNING} and coalesce(d.sent_for < clock.local::date and d.sent_at < p.newest, true)
      limit ${BATCH}
    ), claimed as (
      insert into agent_digests as known (user_id, sent_for, sent_at) select due.user_id, due.day, now() from due
      on conflict (user_id) do update set sent_for = excluded.sent_for, sent_at = excluded.sent_at where known.sent_for < excluded.sent_for
      returning user_id
    )
    select due.email, due.display_name, due.plans from due join claimed using (user_id)`,
});
