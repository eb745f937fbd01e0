import { defineStatement } from '../../../db/statement.js';

/** $1 = owner id, $2 = token id. Creates the session of a token unless it has one; its title is the token's name. */
export const createTokenSessionStatement = defineStatement({
  name: 'create_token_session',
  text: /* sql */ `
    insert into agent_sessions (kind, owner_id, token_id, title)
    select 'mcp', t.user_id, t.token_id, t.name from personal_access_tokens t where t.token_id = $2 and t.user_id = $1
    on conflict (token_id) where token_id is not null and deleted_at is null do nothing`,
});

/** $1 = token id. Locks the token's session: proposals of one token go one after the other, so a repeated key finds the first plan. */
export const lockTokenSessionStatement = defineStatement({
  name: 'lock_token_session',
  text: /* sql */ `
    select session_id, owner_id, team_id from agent_sessions where token_id = $1 and deleted_at is null for no key update`,
});

/** $1 = session id, $2 = key. */
export const planOfKeyStatement = defineStatement({
  name: 'plan_of_key',
  text: 'select action_id, proposal_hash from agent_plans where session_id = $1 and proposal_key = $2',
});

/** $1 = action id, $2 = key, $3 = SHA-256 of the proposal. */
export const setKeyStatement = defineStatement({
  name: 'set_proposal_key',
  text: 'update agent_plans set proposal_key = $2, proposal_hash = $3 where action_id = $1',
});

/** $1 = session id, $2 = action id, $3 = text. What the agent says about its plan; it stands below the facts. */
export const addNoteStatement = defineStatement({
  name: 'add_proposal_note',
  text: /* sql */ `
    with noted as (
      insert into agent_messages (session_id, role, content, action_id) values ($1, 'assistant', $3, $2) returning session_id
    )
    update agent_sessions s set updated_at = now() from noted where s.session_id = noted.session_id`,
});

/** $1 = action id, $2 = owner id, $3 = token id. */
export const proposedPlanStatement = defineStatement({
  name: 'proposed_plan',
  text: /* sql */ `
    select canonical, plan_hash, expires_at, expires_at <= now() as is_over, status
    from agent_plans where action_id = $1 and owner_id = $2 and token_id = $3`,
});
