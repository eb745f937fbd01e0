import { defineStatement } from '../../../db/statement.js';

/** $1 = session id. The lock makes the number of staged plans of a session exact. */
export const lockSessionStatement = defineStatement({
  name: 'plan_lock_session',
  text: /* sql */ `
    select s.session_id, s.kind, s.owner_id, s.team_id from agent_sessions s
    where s.session_id = $1 and s.deleted_at is null for no key update`,
});

/** $1 = session id, $2 = hours until the plan expires. A plan is reminded of a day before its end, if it lives longer than that. */
export const stagingStatement = defineStatement({
  name: 'plan_staging',
  text: /* sql */ `
    select now() + make_interval(hours => $2) as expires_at,
      case when $2 > 24 then now() + make_interval(hours => $2 - 24) end as remind_at,
      (select count(*)::int from (select from agent_plans p where p.session_id = $1 and p.status = 'staged' limit 200) few) as staged`,
});

/**
 * $1 = team ids, $2 = whether the plan is a team's, $3 = limit, $4 = owner of the plan or null, $5 = source. Returns the highest number of
 * staged plans in one of the teams, at most $3, and of those that are of the same owner, or of the same source if the plan is a team's.
 */
export const stagedInTeamsStatement = defineStatement({
  name: 'plan_staged_in_teams',
  text: /* sql */ `
    select max(staged)::int as staged, max(share)::int as share from unnest($1::uuid[]) as wanted(team_id) cross join lateral (
      select count(*) as staged, count(*) filter (where case when $2 then few.source = $5 else few.owner_id = $4::uuid end) as share from (
        select p.owner_id, p.source from agent_plans p
        where p.team_ids @> array[wanted.team_id] and p.status = 'staged' and (p.team_id is not null) = $2
        limit $3
      ) few
    ) counted`,
});

/** $1 = the plan (jsonb), $2 = canonical text, $3 = hash, $4 = actions (jsonb array). */
export const insertPlanStatement = defineStatement({
  name: 'insert_plan',
  text: /* sql */ `
    with plan as (
      insert into agent_plans (action_id, session_id, owner_id, team_id, project_id, team_ids, source, staged_for, token_id, trigger, summary,
        risk, canonical, plan_hash, depth, correlation_id, expires_at, remind_at, undo_of,
        behind_user_ids)
      select p.action_id, p.session_id, p.owner_id, p.team_id, p.project_id, p.team_ids, p.source, p.staged_for, p.token_id, p.trigger,
        p.summary, p.risk, $2::text, $3::bytea, p.depth, p.correlation_id, p.expires_at, p.remind_at, p.undo_of,
        add_people(p.behind || p.staged_for || (select t.user_id from personal_access_tokens t where t.token_id = p.token_id), people_behind(p.who))
      from jsonb_to_record($1::jsonb) as p(action_id uuid, session_id uuid, owner_id uuid, team_id uuid, project_id uuid, team_ids uuid[],
        source text, staged_for uuid, token_id uuid, trigger jsonb, summary text, risk text, depth integer, correlation_id uuid,
        expires_at timestamptz, remind_at timestamptz, undo_of uuid, behind uuid[], who jsonb)
      returning action_id
    )
    insert into agent_actions (action_id, index, tool, entity_type, entity_id, risk, expected_version)
    select plan.action_id, a.index, a.tool, a.entity_type, a.entity_id, a.risk, a.expected_version
    from plan, jsonb_to_recordset($4::jsonb) as a(index integer, tool text, entity_type text, entity_id text, risk text,
      expected_version integer)`,
});
