import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { TurnEnd, TurnView } from '../../../workflows/contracts/turn-contract.js';
import type { Services } from '../../platform/context.js';
import { observeTurn } from '../../platform/telemetry/turn-metrics.js';
import { endTurnStatement } from './claim-turn.sql.js';
import type { ClaimedTurn, TurnExecution } from './claim-turn.js';
import { notifyAnswered } from './answer-channel.js';

/** An item that an answer names. */
export interface Mentioned {
  item_id: string;
  title: string;
  /** The type of an item that the person may link, so that what was asked can be proposed. */
  to_link?: 'task' | 'project';
}

/** Most mentions that are kept of an answer: as many as a list shows, and some. */
const MAX_MENTIONS = 60;

/** The answer to a message: its text and, if it staged one, its plan. */
export interface Answer {
  content: string;
  /** Items that the text names in quotation marks, in its order: pages link them. */
  mentions?: readonly Mentioned[];
  /** Absent: answered. Otherwise the code of the failure. */
  code?: Exclude<TurnEnd, 'done'>;
  plan?: { action_id: string; changes: number } | null;
}

/** A turn that has ended in this transaction; `announceTurn` tells those who wait, after the commit. */
export interface EndedTurn extends EndedRow {
  view: TurnView;
}

/** The provider, the id of the answer, and the seconds since the message. */
interface EndedRow extends Record<string, unknown> {
  provider: string;
  message_id: string;
  seconds: number;
}

/**
 * Ends a claimed turn with its answer, in the transaction that claimed it, and wakes the next message of the session.
 * @throws Error if the turn was not claimed in this transaction
 */
export async function endTurn(
  db: Knex,
  turn: ClaimedTurn,
  owner: TurnExecution,
  { content, code, plan, mentions = [] }: Answer,
): Promise<EndedTurn> {
  const state = code === undefined ? 'answered' : code === 'cancelled' ? 'cancelled' : 'failed';
  const named = mentions.length === 0 ? null : JSON.stringify(mentions.slice(0, MAX_MENTIONS));
  const values = [turn.message_id, owner.execution, state, code ?? null, content, plan?.action_id ?? null, named];
  const [ended] = await run<EndedRow>(db, endTurnStatement, values);
  if (!ended) throw new Error('The turn was not claimed in this transaction');
  const view: TurnView = { state, ...(code === undefined ? {} : { code }), ...(plan ? { changes: plan.changes } : {}) };
  return { ...ended, view };
}

/** Tells the waiting request of an ended turn, wakes the relay, and leaves one log line and the metrics. Call it after the commit. */
export async function announceTurn(
  services: Services,
  turn: ClaimedTurn,
  { provider, seconds, view }: EndedTurn,
): Promise<TurnView> {
  services.notifyRelay();
  await notifyAnswered(services.db, turn.message_id);
  const end = view.code ?? view.state;
  observeTurn(provider, end, seconds);
  const { message_id, session_id, user_id, team_id } = turn;
  services.log.info(
    { message_id, session_id, user_id, team_id, provider, end, changes: view.changes ?? 0, seconds },
    'turn ended',
  );
  return view;
}
