import type { Services } from '../core/context.js';
import { run, type Statement } from '../../db/statement.js';

/** What is due, after events without a subscriber were dropped. */
export interface OutboxPoll extends Record<string, unknown> {
  dropped: number;
  /** Some were dropped, and an owner may have more of them than one poll looks at. */
  more: boolean;
  /** Events with a subscriber wait. */
  events: boolean;
  /** Inbound deliveries wait. */
  deliveries: boolean;
  /** Something waits to be handed to Temporal. */
  dispatches: boolean;
  /** Audit entries wait for the sealer. */
  unsealed: boolean;
  /** Mails wait to be sent. */
  mails: boolean;
}

/** One poll. `after`: owner behind whom the walk over the owners begins. */
export async function pollOutbox({ db }: Pick<Services, 'db'>, statement: Statement, after: string): Promise<OutboxPoll> {
  const [poll] = await run<OutboxPoll>(db, statement, [after]);
  return poll as OutboxPoll;
}
