import { defineStatement } from '../../../../db/statement.js';

/** $1 = plan id, $2 = session id or null. Decisions about one plan wait for each other. */
export const lockPlanStatement = defineStatement({
  name: 'lock_plan',
  text: /* sql */ `
    select p.action_id, p.session_id, p.owner_id, p.team_id, p.project_id, p.team_ids, p.source, p.staged_for, p.token_id, p.status, p.summary,
      p.risk, p.canonical, p.plan_hash, p.depth, p.expires_at, p.incarnation, p.decided_at, p.decided_by, u.display_name as decided_by_name, p.behind_user_ids, p.edited_by,
      p.undo_of
    from agent_plans p left join users u on u.user_id = p.decided_by
    where p.action_id = $1 and ($2::uuid is null or p.session_id = $2) for no key update of p`,
});

/**
 * $1 = team ids in order, $2 = caller id, $3 = plan id. Runs after the plan is locked, so that the clock is read after every wait. The roles
 * last until the commit.
 */
export const standingStatement = defineStatement({
  name: 'plan_standing',
  text: /* sql */ `
    select w.team_id, m.role as seat, clock_timestamp() >= p.expires_at as is_past,
      w.team_id = p.team_id and (select t.decisions_signed_in from teams t where t.team_id = w.team_id) as signed_in,
      exists (select from users u where u.user_id = $2 and u.status = 'active') as is_active
    from agent_plans p cross join unnest($1::uuid[]) as w(team_id)
    left join lateral (
      select m.role from memberships m where m.team_id = w.team_id and m.user_id = $2 for share
    ) m on true
    where p.action_id = $3`,
});

/** $1 = plan id, $2 = caller id, $3 = hash, $4 = comment or null. Returns no row if the plan has expired or differs. */
export const applyPlanStatement = defineStatement({
  name: 'apply_plan',
  text: /* sql */ `
    update agent_plans set status = 'applied', decided_by = $2, comment = $4, decided_at = clock_timestamp()
    where action_id = $1 and status = 'staged' and expires_at > clock_timestamp() and plan_hash = $3 returning decided_at`,
});

/** $1 = plan id, $2 = caller id, $3 = comment or null. An expired plan can still be discarded. */
export const discardPlanStatement = defineStatement({
  name: 'discard_plan',
  text: /* sql */ `
    update agent_plans set status = 'discarded', closed_reason = 'person', decided_by = $2, comment = $3, decided_at = clock_timestamp()
    where action_id = $1 and status in ('staged', 'expired') returning decided_at`,
});

/** $1 = plan id. */
export const stalePlanStatement = defineStatement({
  name: 'stale_plan',
  text: `update agent_plans set status = 'stale' where action_id = $1 and status = 'staged' returning action_id`,
});

/**
 * $1 = plan id, $2 = results (jsonb array of index, result, made_id, and the id of the target). Stores what the confirmation did, with the
 * version of each target after the last action.
 */
export const storeResultsStatement = defineStatement({
  name: 'store_plan_results',
  text: /* sql */ `
    update agent_actions a set result = r.result, made_id = r.made_id,
      version_after = case when r.result = 'applied' then coalesce(
        (select t.version from tasks t where t.task_id = coalesce(r.target_id, r.made_id)),
        (select p.version from projects p where p.project_id = case when a.entity_type = 'project' then r.target_id::uuid end)) end
    from jsonb_to_recordset($2::jsonb) as r(index integer, result text, made_id text, target_id text)
    where a.action_id = $1 and a.index = r.index`,
});
