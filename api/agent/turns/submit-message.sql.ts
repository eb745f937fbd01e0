import { defineStatement } from '../../../db/statement.js';
import { linkedWith } from './claim-turn.sql.js';

/** SQL: the first day of the current month, in UTC. */
const MONTH = `date_trunc('month', now() at time zone 'utc')::date`;

/**
 * $1 = team id. Counts a message of this month, unless the team's quota is used up: then no row. In a statement of its own, so that a
 * team's messages do not wait for each other, and before the message is stored, so that none passes the border.
 */
export const countMessageStatement = defineStatement({
  name: 'count_agent_message',
  text: /* sql */ `
with setting as (select coalesce((select monthly_message_quota from agent_settings where team_id = $1), 2147483647) as quota)
insert into agent_usage (team_id, month, messages)
select $1, ${MONTH}, 1 from setting where quota > 0
on conflict (team_id, month) do update set messages = agent_usage.messages + 1
  where agent_usage.messages < (select quota from setting)
returning messages`,
});

/** $1 = team id. The quota, and the day on which it starts again. */
export const readQuotaStatement = defineStatement({
  name: 'read_agent_quota',
  text: /* sql */ `
select monthly_message_quota as quota, to_char(${MONTH} + interval '1 month', 'FMDD FMMonth YYYY') as resets_on
from agent_settings where team_id = $1`,
});

/** $1 = team id. Gives a counted message back. */
export const returnMessageStatement = defineStatement({
  name: 'return_agent_message',
  text: `update agent_usage set messages = greatest(messages - 1, 0) where team_id = $1 and month = ${MONTH}`,
});

/**
 * $1 = session id, $2 = user id. Messages of the user, those among them without an answer, and those without one in all sessions of the user.
 * What the user's automations ask does not count: it would keep the user out of the chat.
 */
export const countTurnsStatement = defineStatement({
  name: 'count_agent_turns',
  text: /* sql */ `
select (select count(*)::int from agent_messages where session_id = $1 and role = 'user') as messages,
  (select count(*)::int from agent_turns where session_id = $1 and finished_at is null) as open,
  (select count(*)::int from agent_turns t join agent_sessions s using (session_id)
    where t.user_id = $2 and t.finished_at is null and s.kind <> 'automation') as open_of_user`,
});

/** $1 = team ids. Whether an admin of every team allows a model outside the installation to read its words. */
export const allowsModelStatement = defineStatement({
  name: 'allows_external_model',
  text: /* sql */ `
select not exists (
  select from unnest($1::uuid[]) as wanted(team_id)
  left join agent_settings s on s.team_id = wanted.team_id where not coalesce(s.external_model, false)
) as allowed`,
});

/**
 * $1 = message id, $2 = session id, $3 = user id, $4 = text, $5 = team id, $6 = provider, $7 = model, $8 = correlation id, $9 = token
 * that wrote it, or null, $10 = caller (jsonb), $11 = title of a session without one, $12 = title for it. Stores a message with its turn, and
 * enqueues the start of its workflow. The first message gives a session its title, unless a user did.
 */
export const storeMessageStatement = defineStatement({
  name: 'store_agent_message',
  text: /* sql */ `
with message as (
  insert into agent_messages (message_id, session_id, role, content) values ($1, $2, 'user', $4) returning message_id
), turn as (
  insert into agent_turns (message_id, session_id, user_id, team_id, provider, model, correlation_id, token_id, behind_user_ids)
  select message_id, $2, $3, $5, $6, $7, $8::uuid, $9::uuid, people_behind($10::jsonb) from message
), touched as (
  update agent_sessions s set updated_at = clock_timestamp(), title = case when s.title = $11 and $12 <> ''
      and not exists (select from agent_messages m where m.session_id = $2 and m.role = 'user') then $12 else s.title end
  where s.session_id = $2
)
insert into outbox (kind, subject, payload, correlation_id)
select 'turn.start', message_id::text, jsonb_build_object('message_id', message_id, 'incarnation', 1), $8::uuid from message`,
});

/**
 * $1 = message id. Withdraws a message that no worker has begun: the message, its turn and its outbox row go, and the quota gets it back. Returns the
 * item that was linked with it.
 * It races with the claim for the turn's row, and one of them wins.
 */
export const withdrawMessageStatement = defineStatement({
  name: 'withdraw_agent_message',
  text: /* sql */ `
with turn as (
  delete from agent_turns where message_id = $1 and state = 'queued' and claimed_by is null returning message_id, team_id, created_at
), message as (
  delete from agent_messages m using turn where m.message_id = turn.message_id returning m.message_id, m.session_id, m.created_at
), start as (
  delete from outbox o using turn where o.kind = 'turn.start' and o.subject = turn.message_id::text
), returned as (
  update agent_usage u set messages = greatest(u.messages - 1, 0) from turn
  where u.team_id = turn.team_id and u.month = date_trunc('month', turn.created_at at time zone 'utc')::date
)
select message_id, ${linkedWith('message')} as item_id, ${linkedWith('message', 'item_type')} as item_type from message`,
});

/** $1 = message ids. Those whose turn has ended, or whose turn is gone with its session. */
export const endedTurnsStatement = defineStatement({
  name: 'ended_agent_turns',
  text: /* sql */ `
select wanted.message_id from unnest($1::uuid[]) as wanted(message_id)
left join agent_turns t using (message_id) where t.message_id is null or t.finished_at is not null`,
});

/** $1 = message id. Its answer with the plan, if there is one. */
export const readAnswerStatement = defineStatement({
  name: 'read_agent_answer',
  text: /* sql */ `
select m.content, p.canonical, encode(p.plan_hash, 'hex') as plan_hash, p.status as plan_status
from agent_messages m left join agent_plans p on p.action_id = m.action_id where m.answers = $1`,
});
