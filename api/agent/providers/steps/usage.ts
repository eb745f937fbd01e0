import type { Knex } from 'knex';
import { run } from '../../../../db/statement.js';
import type { Config } from '../../../platform/config.js';
import type { Services } from '../../../platform/context.js';
import { countTokens } from '../../../platform/telemetry/model-metrics.js';
import type { TurnExecution } from '../../turns/claim-turn.js';
import { PROMPT_VERSION } from '../prompt/system-text.js';
import { StepFailure } from './step-failure.js';
import { reserveInMonthStatement, reserveInTurnStatement, settleStatement } from './turn-state.sql.js';

/** Calls of one turn, retries included, and its tokens (docs/decisions/agent.md#model-budgets). */
const MAX_CALLS = 12;
const MAX_TURN_TOKENS = 60_000;

interface Tokens {
  inputTokens: number;
  outputTokens: number;
}

/** What a call may cost, counted before it is made. */
export interface Reservation extends Tokens {
  messageId: string;
  teamId: string | null;
  /** First day of the month that pays; null without a team. */
  month: string | null;
}

/** Returns the cost in millionths: prices are for a million tokens, so one token costs the price in millionths. */
const costMicro = (
  { AI_PRICE_INPUT, AI_PRICE_OUTPUT }: Pick<Config, 'AI_PRICE_INPUT' | 'AI_PRICE_OUTPUT'>,
  { inputTokens, outputTokens }: Tokens,
): number => Math.ceil(inputTokens * AI_PRICE_INPUT + outputTokens * AI_PRICE_OUTPUT);

async function reserveIn(db: Knex, config: Config, owner: TurnExecution, tokens: Tokens): Promise<Reservation> {
  const amounts = [tokens.inputTokens, tokens.outputTokens, costMicro(config, tokens)];
  const { messageId, incarnation, execution } = owner;
  const limits = [MAX_CALLS, MAX_TURN_TOKENS, config.AI_MODEL ?? '', PROMPT_VERSION];
  const [turn] = await run<{ team_id: string | null }>(db, reserveInTurnStatement, [
    messageId,
    incarnation,
    execution,
    ...amounts,
    ...limits,
  ]);
  if (!turn) throw new StepFailure('loop_limit');
  const reservation = { ...tokens, messageId, teamId: turn.team_id, month: null };
  if (turn.team_id === null) return reservation;
  const monthly = [config.AI_MONTHLY_TOKENS_PER_TEAM, Math.round(config.AI_MONTHLY_COST_PER_TEAM * 1_000_000)];
  const [used] = await run<{ month: string }>(db, reserveInMonthStatement, [turn.team_id, ...amounts, ...monthly]);
  if (!used) throw new StepFailure('budget_exceeded');
  return { ...reservation, month: used.month };
}

/**
 * Counts a call and reserves its tokens in the turn and in the team's month, all or nothing. A worker that dies leaves the reservation, as
 * the call may have been paid.
 * @throws StepFailure loop_limit the turn is over or has used up its share | budget_exceeded the team's month is used up
 */
export const reserve = ({ db, config }: Services, owner: TurnExecution, tokens: Tokens): Promise<Reservation> =>
  db.transaction((trx) => reserveIn(trx, config, owner, tokens));

/** Replaces a reservation by what the call has cost. */
export async function settle(db: Knex, config: Config, reserved: Reservation, actual: Tokens): Promise<void> {
  const { messageId, teamId, month, inputTokens, outputTokens } = reserved;
  await run(db, settleStatement, [
    messageId,
    teamId,
    month,
    actual.inputTokens - inputTokens,
    actual.outputTokens - outputTokens,
    costMicro(config, actual) - costMicro(config, reserved),
  ]);
  countTokens(actual.inputTokens, actual.outputTokens);
}
