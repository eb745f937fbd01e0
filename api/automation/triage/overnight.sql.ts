import { defineStatement } from '../../../db/statement.js';
import { MAX_ACTIONS } from '../../agent/plans/schema.js';
import { QUIET_DAYS } from './rules.js';

/**
 * $1 = team id. Locks the settings of a live team, with the account of the user who enabled the overnight triage. No row: the team is deleted
 * or has no settings.
 */
export const lockNightStatement = defineStatement({
  name: 'lock_triage_night',
  text: /* sql */ `
    select s.overnight_enabled, s.overnight_timezone, u.user_id, u.email, u.role, coalesce(u.status = 'active', false) as is_active
    from agent_settings s join teams t using (team_id) left join users u on u.user_id = s.overnight_enabled_by
    where s.team_id = $1 and t.deleted_at is null for no key update of s`,
});

/**
 * $1 = team id, $2 = today in the team's zone. Open tasks of active projects that are overdue and could be raised, or that nobody has changed
 * or commented on for two weeks; overdue ones first. What was applied, refused or left out of a confirmed plan rests for two weeks, so nobody
 * is asked the same thing every night (docs/decisions/agent.md#triage-rest).
 */
export const selectTasksStatement = defineStatement({
  name: 'select_triage_tasks',
  text: /* sql */ `
    select t.task_id, t.priority, coalesce(t.due_date < $2::text, false) and t.priority <> 'urgent' as overdue
    from tasks t join projects p using (project_id)
    where t.team_id = $1 and t.deleted_at is null and t.status <> 'done' and not t.is_archived and p.deleted_at is null and p.status = 'active'
      and (
        (t.due_date < $2 and t.priority <> 'urgent')
        or (t.updated_at < now() - interval '${QUIET_DAYS} days' and not exists (
          select from comments c where c.task_id = t.task_id and c.created_at >= now() - interval '${QUIET_DAYS} days'))
      )
      and not exists (
        select from agent_actions a join agent_plans q using (action_id)
        where a.entity_id = t.task_id and q.source = 'overnight_triage' and q.status in ('applied', 'discarded')
          and q.closed_reason is distinct from 'superseded' and q.decided_at > now() - interval '${QUIET_DAYS} days'
      )
    order by overdue desc, t.due_date, t.updated_at, t.task_id limit ${MAX_ACTIONS}`,
});

/** $1 = kind, $2 = team id, $3 = subject key, $4 = title. No row: the subject has a session. */
export const openSessionStatement = defineStatement({
  name: 'open_triage_session',
  text: /* sql */ `
    insert into agent_sessions (kind, team_id, subject_key, title) values ($1, $2, $3, $4)
    on conflict (subject_key) do nothing returning session_id, owner_id, team_id`,
});

/** $1 = subject key. The plan that was staged for the subject. */
export const planOfSubjectStatement = defineStatement({
  name: 'plan_of_subject',
  text: /* sql */ `
    select p.action_id from agent_sessions s join agent_plans p on p.session_id = s.session_id and p.undo_of is null
    where s.subject_key = $1 order by p.staged_at limit 1`,
});

/** $1 = session id. Takes back a session in which nothing was staged. */
export const dropSessionStatement = defineStatement({
  name: 'drop_triage_session',
  text: 'delete from agent_sessions where session_id = $1',
});

/**
 * $1 = the new plan. Staged plans that it replaces: those of the same team, source, repository, project, name and branch. Overnight plans name
 * none of these in their trigger.
 */
export const replacedPlansStatement = defineStatement({
  name: 'replaced_plans',
  text: /* sql */ `
    select p.action_id from agent_plans n join agent_plans p on p.team_id = n.team_id and p.source = n.source
    where n.action_id = $1 and p.status = 'staged' and p.action_id <> n.action_id
      and p.trigger->>'repo' is not distinct from n.trigger->>'repo'
      and p.trigger->>'project_id' is not distinct from n.trigger->>'project_id'
      and p.trigger->>'name' is not distinct from n.trigger->>'name'
      and p.trigger->>'branch' is not distinct from n.trigger->>'branch'`,
});
