import type { Services } from '../context.js';
import { run, type Statement } from '../../../db/statement.js';

/** Kinds of due rows, after events without a subscriber were dropped. */
export interface OutboxPoll extends Record<string, unknown> {
  dropped: number;
  /** Some were dropped, and an owner may have more than one poll reads. */
  more: boolean;
  /** Events with a subscriber. */
  events: boolean;
  /** Inbound deliveries. */
  deliveries: boolean;
  /** Rows for Temporal. */
  dispatches: boolean;
  /** Audit entries to seal. */
  unsealed: boolean;
  /** Items to index for search. */
  unindexed: boolean;
  /** Changes of which a person has not been notified. */
  unnoticed: boolean;
  /** Mails to send. */
  mails: boolean;
}

/** Polls the outbox once. `after`: owner after whom to start. */
export async function pollOutbox({ db }: Pick<Services, 'db'>, statement: Statement, after: string): Promise<OutboxPoll> {
  const [poll] = await run<OutboxPoll>(db, statement, [after]);
  return poll as OutboxPoll;
}
