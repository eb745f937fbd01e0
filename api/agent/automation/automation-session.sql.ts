import type { Statement } from '../../../db/statement.js';

/** $1 = owner id or null, $2 = team id or null, $3 = subject key, $4 = title. No row: this step of the run has its session. */
export const openStepSessionStatement: Statement = {
  name: 'open_step_session',
  text: /* sql */ `
    insert into agent_sessions (kind, owner_id, team_id, subject_key, title) values ('automation', $1, $2, $3, $4)
    on conflict (subject_key) do nothing returning session_id, owner_id, team_id`,
};

/** $1 = subject key. The plan that an earlier attempt of the step staged. */
export const planOfStepStatement: Statement = {
  name: 'plan_of_step',
  text: /* sql */ `
    select p.action_id from agent_sessions s join agent_plans p using (session_id)
    where s.subject_key = $1 order by p.staged_at limit 1`,
};
