import type { Knex } from 'knex';

/** Channel on which the worker's relay and sealer listen. */
export const BELL_CHANNEL = 'assent_outbox';

/**
 * Returns `ring()`: tells the relay that a commit left rows for it. Called after the commit, at most one NOTIFY is under way
 * and later calls fold into the next one. A NOTIFY inside the writing transaction would be lossless, but PostgreSQL takes one
 * database-wide lock for it until the commit is on disk, which would put every writer in single file; a lost ring costs at
 * most the relay's one-second sweep (docs/adr/0003).
 */
export function createBell(db: Knex): () => void {
  let ringing = false;
  let again = false;
  const ring = async (): Promise<void> => {
    ringing = true;
    do {
      again = false;
      await db.raw(`notify ${BELL_CHANNEL}`).catch(() => undefined);
    } while (again);
    ringing = false;
  };
  return () => {
    again = true;
    if (!ringing) void ring();
  };
}
