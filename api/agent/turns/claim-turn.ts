import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { TurnRef } from '../../../workflows/contracts/turn-contract.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import type { TurnStep } from '../run-steps/step-of-turn.sql.js';
import { claimTurnStatement, lockSlotsStatement, lockSessionOfTurnStatement, waitForSlotStatement } from './claim-turn.sql.js';

/** The Temporal execution that owns a turn. `execution` is the id of the workflow's run. */
export interface TurnExecution extends TurnRef {
  execution: string;
}

/** A turn claimed by an execution, with its message and its author as they are now. */
export interface ClaimedTurn extends Record<string, unknown> {
  message_id: string;
  session_id: string;
  user_id: string;
  /** Team that pays; null without links. */
  team_id: string | null;
  /** Token that wrote the message: it may not confirm the answer's plan. */
  token_id: string | null;
  /** Users behind the message, besides its author. */
  behind_user_ids: string[];
  provider: 'rules' | 'openai_compatible' | 'anthropic';
  model: string | null;
  /** `waiting`: an earlier message of the session has no answer yet, or the team has no slot left; nothing may be done now. */
  state: 'waiting' | 'running';
  /** Calls of the model so far. */
  calls: number;
  correlation_id: string;
  content: string;
  position: number;
  /** The item that was linked with the message, because it names it by its number. */
  linked_item_id: string | null;
  email: string;
  role: InstanceRole;
  is_active: boolean;
  timezone: string;
  /** The step of a run that asked; null for a person's message. */
  step: TurnStep | null;
}

/**
 * Claims a turn, or locks one already claimed, until the commit; its session too. Needs a transaction.
 * @returns undefined if it has ended, was withdrawn, or belongs to another execution
 */
export async function claimTurn(
  db: Knex,
  { messageId, incarnation, execution }: TurnExecution,
): Promise<ClaimedTurn | undefined> {
  await run(db, lockSessionOfTurnStatement, [messageId]);
  const [turn] = await run<ClaimedTurn>(db, claimTurnStatement, [messageId, incarnation, execution]);
  return turn;
}

/**
 * Takes one of the team's slots at the model for a claimed turn, until its end. Needs the transaction of the claim.
 * @returns false if all are taken: the turn waits, and the end of another one wakes it
 */
export async function takeSlot(
  db: Knex,
  { message_id, team_id }: Pick<ClaimedTurn, 'message_id' | 'team_id'>,
  slots: number,
): Promise<boolean> {
  if (team_id === null) return true;
  await run(db, lockSlotsStatement, [team_id]);
  return (await run(db, waitForSlotStatement, [message_id, team_id, slots])).length === 0;
}
