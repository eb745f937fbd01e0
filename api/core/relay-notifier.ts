import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';

/** Channel on which the worker's relay and sealer listen. */
export const OUTBOX_CHANNEL = 'assent_outbox';
const notify: Statement = { name: 'notify_outbox', text: `notify ${OUTBOX_CHANNEL}` };
/** Rest between two rings, ms: the first of a burst is heard at once, the others together. */
const REST_MS = 5;

/**
 * Returns `ring()`: tells the relay that a commit left rows for it. Called after the commit; while a NOTIFY is under way, or has
 * just been, later calls fold into the next one. A NOTIFY inside the writing transaction would be lossless, but PostgreSQL takes
 * one database-wide lock for it until the commit is on disk, which would put every writer in single file; a lost ring costs at
 * most the relay's one-second sweep (docs/adr/0003).
 */
export function createRelayNotifier(db: Knex): () => void {
  let ringing = false;
  let again = false;
  const ring = async (): Promise<void> => {
    ringing = true;
    do {
      again = false;
      await run(db, notify, []).catch(() => undefined);
      await sleep(REST_MS, undefined, { ref: false });
    } while (again);
    ringing = false;
  };
  return () => {
    again = true;
    if (!ringing) void ring();
  };
}
