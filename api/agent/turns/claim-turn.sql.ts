import { defineStatement } from '../../../db/statement.js';
import { stepOfTurn, wakeRunOfTurn } from '../run-steps/step-of-turn.sql.js';
import { wakeNextOfTeam } from '../sessions/session.sql.js';

/**
 * $1 = message id. Locks the session of a turn before the turn itself. Whatever writes in a session does so first, so that its
 * messages, turns and answers follow each other.
 */
export const lockSessionOfTurnStatement = defineStatement({
  name: 'lock_session_of_turn',
  text: /* sql */ `
    select s.session_id from agent_sessions s
    where s.session_id = (select t.session_id from agent_turns t where t.message_id = $1) for no key update`,
});

/** SQL: the id or the type of the item that was linked in the transaction that stored a message of a person; null for none. */
export const linkedWith = (message: string, column: 'item_id' | 'item_type' = 'item_id'): string => /* sql */ `(
  select l.${column} from agent_links l where l.session_id = ${message}.session_id and l.linked_at = ${message}.created_at limit 1)`;

/**
 * $1 = message id, $2 = incarnation, $3 = execution id. The first execution of the turn's incarnation claims it and may ask again after a
 * lost response. A second execution finds no row, and neither does any once the turn has ended or was withdrawn. The row becomes
 * `waiting` while an earlier message of the session has an open turn, else `running`.
 */
export const claimTurnStatement = defineStatement({
  name: 'claim_turn',
  text: /* sql */ `
with turn as (
  update agent_turns t set claimed_by = $3, started_at = coalesce(t.started_at, now()),
    state = case when exists (
      select from agent_turns other join agent_messages earlier using (message_id), agent_messages own
      where own.message_id = t.message_id and other.session_id = t.session_id and other.finished_at is null and earlier.position < own.position
    ) then 'waiting' else 'running' end
  where t.message_id = $1 and t.incarnation = $2 and t.finished_at is null and (t.claimed_by is null or t.claimed_by = $3)
  returning t.*
)
select turn.message_id, turn.session_id, turn.user_id, turn.team_id, turn.token_id, turn.behind_user_ids, turn.provider, turn.model, turn.state, turn.calls,
  turn.correlation_id, message.content, message.position::int as position, u.email, u.role, u.status = 'active' as is_active,
  coalesce(u.preferences->>'timezone', 'UTC') as timezone, ${linkedWith('message')} as linked_item_id, ${stepOfTurn('turn')}
from turn join agent_messages message using (message_id) join users u on u.user_id = turn.user_id`,
});

/** $1 = team id. Locks the team's slots at the model, so that only one transaction counts them. */
export const lockSlotsStatement = defineStatement({
  name: 'lock_slots_of_team',
  text: 'select team_id from agent_settings where team_id = $1 for no key update',
});

/**
 * $1 = message id, $2 = team id, $3 = slots. Sends a claimed turn back to wait if models already answer that many messages of its team.
 * Returns its id then, and no row if it has a slot.
 */
export const waitForSlotStatement = defineStatement({
  name: 'wait_for_slot',
  text: /* sql */ `
update agent_turns set state = 'waiting' where message_id = $1 and (
  select count(*) from agent_turns other
  where other.team_id = $2 and other.finished_at is null and other.state = 'running' and other.provider <> 'rules' and other.message_id <> $1
) >= $3 returning message_id`,
});

/**
 * $1 = message id, $2 = execution id, $3 = state, $4 = code, $5 = text, $6 = plan, $7 = items that the text names, or null. Ends a turn that this execution runs, adds its answer,
 * wakes the next message of the session, the next of the team that waits for a slot, and the run whose step asked. No row: the turn has
 * ended, or belongs to another execution.
 */
export const endTurnStatement = defineStatement({
  name: 'end_turn',
  text: /* sql */ `
with turn as (
  update agent_turns t set state = $3, error_code = $4, finished_at = clock_timestamp()
  where t.message_id = $1 and t.claimed_by = $2 and t.finished_at is null
  returning t.message_id, t.session_id, t.team_id, t.provider, t.created_at
), answer as (
  insert into agent_messages (session_id, role, content, action_id, answers, mentions)
  select session_id, 'assistant', $5, $6::uuid, message_id, $7::jsonb from turn returning message_id, session_id
), touched as (
  update agent_sessions s set updated_at = clock_timestamp() from turn where s.session_id = turn.session_id
), next as (
  select o.message_id, o.incarnation, o.correlation_id from turn, agent_turns o join agent_messages m using (message_id)
  where o.session_id = turn.session_id and o.finished_at is null and o.message_id <> turn.message_id order by m.position limit 1
), woken as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'turn.wake', message_id::text, jsonb_build_object('message_id', message_id, 'incarnation', incarnation), correlation_id from next
), ${wakeNextOfTeam('turn')}, run_woken as (${wakeRunOfTurn('turn')}
)
select turn.provider, answer.message_id, extract(epoch from clock_timestamp() - turn.created_at)::float8 as seconds from turn, answer`,
});
