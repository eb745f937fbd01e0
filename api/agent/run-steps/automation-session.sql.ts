import { defineStatement } from '../../../db/statement.js';

/** $1 = owner id or null, $2 = team id or null, $3 = subject key, $4 = title. Opens the session of a step, unless it has one. */
export const openStepSessionStatement = defineStatement({
  name: 'open_step_session',
  text: /* sql */ `
    insert into agent_sessions (kind, owner_id, team_id, subject_key, title) values ('automation', $1, $2, $3, $4)
    on conflict (subject_key) do nothing`,
});

/** $1 = subject key. Locks the live session of a step before anything else in it. */
export const lockStepSessionStatement = defineStatement({
  name: 'lock_step_session',
  text: /* sql */ `
    select session_id, owner_id, team_id from agent_sessions where subject_key = $1 and deleted_at is null for no key update`,
});

/** $1 = subject key. What earlier attempts of the step came to: a plan, and the newest turn of how many. No row: nothing yet. */
export const stepProgressStatement = defineStatement({
  name: 'step_progress',
  text: /* sql */ `
    select s.deleted_at is not null as is_deleted,
      (select p.action_id from agent_plans p where p.session_id = s.session_id order by p.staged_at limit 1) as action_id,
      (select count(*)::int from agent_messages m where m.session_id = s.session_id and m.role = 'user') as turns,
      newest.finished_at is null and newest.message_id is not null as is_open, newest.error_code, newest.retry_after_s
    from agent_sessions s
    left join lateral (
      select t.message_id, t.finished_at, t.error_code, t.retry_after_s
      from agent_messages m join agent_turns t using (message_id)
      where m.session_id = s.session_id and m.role = 'user' order by m.position desc limit 1
    ) newest on true
    where s.subject_key = $1`,
});
