import { defineStatement } from '../../../../db/statement.js';

/** Title of the session, such as the name of the token that proposed, and what the agent said with the plan, cut. */
const SAID = /* sql */ `
      (select s.title from agent_sessions s where s.session_id = p.session_id) as session_title,
      (select left(m.content, 500) from agent_messages m where m.action_id = p.action_id and m.role = 'assistant' limit 1) as note`;

/** Columns of plans p as the API reads them; `current` are the versions of targets that a plan builds on. */
const COLUMNS = /* sql */ `
      p.action_id, p.session_id, p.owner_id, p.team_id, p.team_ids, p.project_id, p.source, p.trigger, p.status, p.closed_reason, p.risk, p.canonical,
      p.plan_hash, p.token_id, p.behind_user_ids, p.edited_by,
      coalesce((select t.decisions_signed_in from teams t where t.team_id = p.team_id), false) as signed_in, p.staged_at, p.expires_at, p.decided_by, p.decided_at, p.comment, p.undo_of,
      (select u.action_id from agent_plans u where u.undo_of = p.action_id and u.status in ('staged', 'applied')) as undone_by,
      case when p.status = 'staged' then (
        select json_agg(json_build_object('index', a.index, 'expected', a.expected_version, 'found', v.version) order by a.index)
        from agent_actions a cross join lateral (
          select t.version from tasks t where a.entity_type = 'task' and t.task_id = a.entity_id
          union all
          select r.version from projects r where r.project_id = case when a.entity_type = 'project' then a.entity_id::uuid end
        ) v
        where a.action_id = p.action_id and a.expected_version is not null and v.version <> a.expected_version
      ) end as stale,
      case when p.status = 'applied' then (
        select json_agg(json_build_object('index', a.index, 'result', a.result, 'made_id', a.made_id) order by a.index)
        from agent_actions a where a.action_id = p.action_id
      ) end as results`;

/**
 * $1 = plan ids, $2 = caller id, $3 = roles that may read a team's plan. Returns the plans with the teams in which the caller has a role, and the
 * role in their own.
 */
export const getPlansStatement = defineStatement({
  name: 'get_plans',
  text: /* sql */ `
    select ${COLUMNS},
      array(select m.team_id from memberships m where m.user_id = $2 and m.team_id = any(p.team_ids)) as member_of,
      (select m.role from memberships m where m.user_id = $2 and m.team_id = p.team_id) as seat, ${SAID}
    from agent_plans p
    where p.action_id = any($1::uuid[]) and (p.owner_id = $2
      or exists (select from memberships m where m.team_id = p.team_id and m.user_id = $2 and m.role = any($3::text[])))`,
});

const TEAMS = /* sql */ `
      select m.team_id, m.role from memberships m where m.user_id = $1 and m.role = any($2::text[])`;
/** Own plans that came from outside; those of a conversation wait there. */
const OWN = /* sql */ `p.owner_id = $1 and p.status = 'staged' and p.source <> 'chat'`;
/** SQL over plans p: those after the cursor, nearest end first. */
const NEXT = /* sql */ `p.expires_at > now() and ($4::uuid is null or (p.expires_at, p.action_id) > (select l.expires_at, l.action_id from last l))
      order by p.expires_at, p.action_id limit $3`;

/**
 * $1 = caller id, $2 = roles that may read, $3 = row limit, $4 = plan after which the list continues, or null, $5 = bytes of plans, of which the
 * first one is read anyway. Each team is read in the order of its index. `found` counts the rows without the limit of bytes.
 */
export const pendingPlansStatement = defineStatement({
  name: 'pending_plans',
  text: /* sql */ `
    with last as materialized (
      select p.expires_at, p.action_id from agent_plans p where p.action_id = $4
    ), found as (
      (select p.action_id, p.expires_at, t.role from (${TEAMS}) t cross join lateral (
        select p.action_id, p.expires_at from agent_plans p where p.team_id = t.team_id and p.status = 'staged' and ${NEXT}) p)
      union all
      (select p.action_id, p.expires_at, null from agent_plans p where ${OWN} and ${NEXT})
      order by expires_at, action_id limit $3
    ), sized as (
      select f.*, count(*) over ()::int as found, row_number() over nearest as place, sum(octet_length(p.canonical)) over nearest as bytes
      from found f join agent_plans p using (action_id) window nearest as (order by f.expires_at, f.action_id)
    )
    select ${COLUMNS}, array(select m.team_id from memberships m where m.user_id = $1 and m.team_id = any(p.team_ids)) as member_of,
      f.role as seat, f.found, ${SAID}
    from sized f join agent_plans p using (action_id) where f.bytes <= $5::int or f.place = 1 order by f.expires_at, f.action_id`,
});

/** $1 = plan id, $2 = caller id, $3 = roles that may read. A plan at which a page of the list may have ended. */
export const planCursorStatement = defineStatement({
  name: 'plan_cursor',
  text: /* sql */ `
    select from agent_plans p where p.action_id = $1 and (p.owner_id = $2
      or exists (select from memberships m where m.team_id = p.team_id and m.user_id = $2 and m.role = any($3::text[])))`,
});

/** $1 = caller id, $2 = roles that may read. */
export const countPendingStatement = defineStatement({
  name: 'count_pending_plans',
  text: /* sql */ `
    select (coalesce((select sum(c.waiting) from (${TEAMS}) t cross join lateral (
        select count(*) as waiting from agent_plans p where p.team_id = t.team_id and p.status = 'staged' and p.expires_at > now()) c), 0)
      + (select count(*) from agent_plans p where ${OWN} and p.expires_at > now()))::int as total`,
});

/**
 * $1 = caller id, $2 = roles that may confirm, $3 = roles that may confirm a high risk, $4 = limit. Counts what waits for the caller, as the list of
 * approvals shows it: plans of the caller's conversations too, and none that would change a team which the caller has left or has edited.
 */
export const countConfirmableStatement = defineStatement({
  name: 'count_confirmable_plans',
  text: /* sql */ `
    select count(*)::int as waiting from (
      (select from (${TEAMS}) t cross join lateral (
        select from agent_plans p where p.team_id = t.team_id and p.status = 'staged' and p.expires_at > now()
          and (p.risk <> 'high' or (t.role = any($3::text[]) and $1 <> all(p.edited_by))) limit $4) p)
      union all
      (select from agent_plans p where p.owner_id = $1 and p.status = 'staged' and p.expires_at > now()
        and p.team_ids <@ array(select m.team_id from memberships m where m.user_id = $1) limit $4)
      limit $4
    ) few`,
});

/** $1 = caller id, $2 = roles that may read, $3 = row limit. Plans of the list that the caller has applied within a day, newest first. */
export const recentlyAppliedStatement = defineStatement({
  name: 'recently_applied_plans',
  text: /* sql */ `
    select ${COLUMNS}, array(select m.team_id from memberships m where m.user_id = $1 and m.team_id = any(p.team_ids)) as member_of, ${SAID}
    from agent_plans p
    where p.decided_by = $1 and p.status = 'applied' and p.decided_at > now() - interval '1 day' and p.source <> 'chat' and p.undo_of is null
      and (p.owner_id = $1 or p.team_id in (select t.team_id from (${TEAMS}) t))
    order by p.decided_at desc limit $3`,
});
