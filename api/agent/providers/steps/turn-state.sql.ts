import { defineStatement } from '../../../../db/statement.js';
import { stepOfTurn } from '../../run-steps/step-of-turn.sql.js';

/**
 * $1 = message id, $2 = incarnation, $3 = execution id. The open turn that this execution runs, with its message and its author. Locks
 * nothing, so that it runs in a read-only transaction.
 */
export const turnStateStatement = defineStatement({
  name: 'agent_turn_state',
  text: /* sql */ `
select t.message_id, t.session_id, t.user_id, t.team_id, t.token_id, t.behind_user_ids, t.correlation_id, message.content, message.position::int as position,
  u.email, u.role, u.status = 'active' as is_active, coalesce(u.preferences->>'timezone', 'UTC') as timezone,
  ${stepOfTurn('t')}
from agent_turns t join agent_messages message using (message_id) join users u on u.user_id = t.user_id
where t.message_id = $1 and t.incarnation = $2 and t.claimed_by = $3 and t.state = 'running' and t.finished_at is null`,
});

/** $1 = message id. What the model said so far. */
export const turnStepsStatement = defineStatement({
  name: 'agent_turn_steps',
  text: 'select step, content from agent_steps where message_id = $1 order by step',
});

/** $1 = session id, $2 = position of the message, $3 = maximum. The messages before it, oldest first. */
export const turnHistoryStatement = defineStatement({
  name: 'agent_turn_history',
  text: /* sql */ `
select role, content from (
  select role, content, position from agent_messages where session_id = $1 and position < $2 order by position desc limit $3
) newest order by position`,
});

/**
 * Counts a call of the model and reserves what it may cost, before it is made. $1 = message id, $2 = incarnation, $3 = execution id,
 * $4 = input tokens, $5 = output tokens, $6 = cost in millionths, $7 = maximum calls of a turn, $8 = maximum tokens of a turn,
 * $9 = model, $10 = version of the prompt. Returns the paying team, or no row if the turn is over or has used up its share.
 */
export const reserveInTurnStatement = defineStatement({
  name: 'reserve_in_turn',
  text: /* sql */ `
update agent_turns set calls = calls + 1, input_tokens = input_tokens + $4, output_tokens = output_tokens + $5,
  cost_micro = cost_micro + $6, model = $9, prompt_version = $10
where message_id = $1 and incarnation = $2 and claimed_by = $3 and state = 'running' and finished_at is null and calls < $7
  and input_tokens + output_tokens + $4 + $5 <= $8
returning team_id`,
});

/**
 * Reserves tokens and cost in a team's month. $1 = team id, $2 = input tokens, $3 = output tokens, $4 = cost in millionths,
 * $5 = maximum tokens of a month, $6 = maximum cost of a month in millionths; 0 for no maximum. No row: the month's share is used up.
 */
export const reserveInMonthStatement = defineStatement({
  name: 'reserve_in_month',
  text: /* sql */ `
insert into agent_usage as u (team_id, month, input_tokens, output_tokens, cost_micro)
select $1::uuid, date_trunc('month', now() at time zone 'utc')::date, $2::bigint, $3::bigint, $4::bigint
where ($5::bigint = 0 or $2::bigint + $3::bigint <= $5) and ($6::bigint = 0 or $4::bigint <= $6)
on conflict (team_id, month) do update set input_tokens = u.input_tokens + excluded.input_tokens,
  output_tokens = u.output_tokens + excluded.output_tokens, cost_micro = u.cost_micro + excluded.cost_micro
where ($5::bigint = 0 or u.input_tokens + u.output_tokens + excluded.input_tokens + excluded.output_tokens <= $5)
  and ($6::bigint = 0 or u.cost_micro + excluded.cost_micro <= $6)
returning month::text as month`,
});

/**
 * Replaces a reservation by what the call has cost. $1 = message id, $2 = team id or null, $3 = month or null, $4 = difference of the
 * input tokens, $5 = of the output tokens, $6 = of the cost.
 */
export const settleStatement = defineStatement({
  name: 'settle_usage',
  text: /* sql */ `
with turn as (
  update agent_turns set input_tokens = greatest(0, input_tokens + $4::bigint), output_tokens = greatest(0, output_tokens + $5::bigint),
    cost_micro = greatest(0, cost_micro + $6::bigint)
  where message_id = $1
)
update agent_usage set input_tokens = greatest(0, input_tokens + $4::bigint), output_tokens = greatest(0, output_tokens + $5::bigint),
  cost_micro = greatest(0, cost_micro + $6::bigint)
where team_id = $2::uuid and month = $3::date`,
});

/**
 * $1 = message id, $2 = incarnation, $3 = execution id, $4 = step, $5 = content. Stores a step once, while the turn is open. No row: the
 * turn is over, or another attempt has stored the step.
 */
export const storeStepStatement = defineStatement({
  name: 'store_agent_step',
  text: /* sql */ `
insert into agent_steps (message_id, step, content)
select t.message_id, $4::int, $5::json from agent_turns t
where t.message_id = $1 and t.incarnation = $2 and t.claimed_by = $3 and t.finished_at is null
on conflict (message_id, step) do nothing returning step`,
});

/** $1 = message id, $2 = seconds. Keeps what a busy provider asked for, for the answer of the turn. */
export const keepWaitStatement = defineStatement({
  name: 'keep_model_wait',
  text: 'update agent_turns set retry_after_s = $2 where message_id = $1 and finished_at is null',
});

/** $1 = message id. */
export const readWaitStatement = defineStatement({
  name: 'read_model_wait',
  text: 'select retry_after_s from agent_turns where message_id = $1',
});
