import type { Knex } from 'knex';
import { run } from '../../../../db/statement.js';
import { type Context, type Services } from '../../../platform/context.js';
import type { InstanceRole } from '../../../platform/access/actor.js';
import { newId } from '../../../platform/ids.js';
import type { TurnStep } from '../../run-steps/step-of-turn.sql.js';
import type { TurnExecution } from '../../turns/claim-turn.js';
import { HISTORY_MESSAGES, type HistoryMessage } from '../prompt/build-prompt.js';
import { type LinkedWorld, readLinkedWorld } from '../reading/read-linked-items.js';
import { BODY_LENGTH, COMMENT_LENGTH, COMMENTS } from '../prompt/build-data.js';
import type { StepContent } from './step-content.js';
import { turnHistoryStatement, turnStateStatement, turnStepsStatement } from './turn-state.sql.js';

/** The open turn of an execution. */
export interface TurnState extends Record<string, unknown> {
  message_id: string;
  session_id: string;
  user_id: string;
  team_id: string | null;
  token_id: string | null;
  /** Users behind the message, besides its author. */
  behind_user_ids: string[];
  correlation_id: string;
  content: string;
  position: number;
  email: string;
  role: InstanceRole;
  is_active: boolean;
  timezone: string;
  step: TurnStep | null;
}

/** All that a prompt is made of, as of one moment. */
export interface TurnReading {
  turn: TurnState;
  steps: StepContent[];
  history: HistoryMessage[];
  world: LinkedWorld;
}

/** Returns the context in which the agent reads for the author of a message. */
export function proposerContext(services: Services, db: Knex, turn: TurnState): Context {
  const { user_id: userId, email, role } = turn;
  const actor = { type: 'proposer', userId, email, role } as const;
  return { ...services, db, actor, requestId: newId(), correlationId: turn.correlation_id, ip: null, userAgent: null };
}

/**
 * Returns the context in which the plan of a turn is staged: that of the author, or of the run whose step asked. So the events of its plan
 * carry the run's depth, and the people behind the run stay known.
 */
export function stagingContext(services: Services, db: Knex, turn: TurnState): Context {
  const ctx = proposerContext(services, db, turn);
  const { step, user_id: userId, email, role } = turn;
  if (!step?.automation_id) return ctx;
  const { automation_id: automationId, run_id: runId, depth } = step;
  return { ...ctx, actor: { type: 'automation', userId, email, role, automationId, runId, depth } };
}

/** Runs reads in a read-only transaction: PostgreSQL refuses every write in it. */
export const readOnly = <T>({ db }: Services, work: (db: Knex) => Promise<T>): Promise<T> =>
  db.transaction(work, { readOnly: true });

/** Returns the stored steps of a turn, in order. */
export async function readSteps(db: Knex, messageId: string): Promise<StepContent[]> {
  const rows = await run<{ step: number; content: StepContent }>(db, turnStepsStatement, [messageId]);
  return rows.map(({ content }) => content);
}

/** Reads everything for a prompt in one read-only transaction; undefined if the turn is over, or another execution runs it. */
export function readTurn(services: Services, owner: TurnExecution): Promise<TurnReading | undefined> {
  return readOnly(services, async (db) => {
    const values = [owner.messageId, owner.incarnation, owner.execution];
    const [turn] = await run<TurnState>(db, turnStateStatement, values);
    if (!turn) return undefined;
    const limits = { textLength: BODY_LENGTH, comments: COMMENTS, commentLength: COMMENT_LENGTH };
    const earlier = [turn.session_id, turn.position, HISTORY_MESSAGES];
    // Sent together, so that they cost one round trip.
    const [steps, history, world] = await Promise.all([
      readSteps(db, turn.message_id),
      // Earlier attempts of a step asked the same.
      turn.step ? [] : run<HistoryMessage & Record<string, unknown>>(db, turnHistoryStatement, earlier),
      readLinkedWorld(proposerContext(services, db, turn), turn.session_id, limits),
    ]);
    return { turn, steps, history, world };
  });
}
