import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';

/** Minimum interval between updates of a session's last use, s. */
export const NOTE_AFTER_SECONDS = 60;
/** Interval in which updates are batched, ms. */
const BATCH_MS = 1_000;

/** $1 = session ids. */
const statement = defineStatement({
  name: 'touch_sessions',
  text: /* sql */ `
    update sessions set last_seen_at = now()
    where session_id = any($1::uuid[]) and last_seen_at < now() - interval '${NOTE_AFTER_SECONDS} seconds'`,
});

const waiting = new WeakMap<Knex, Set<string>>();

/**
 * Records that a session is in use: asynchronously and batched, so requests never wait. A failed update is repeated by the next
 * use.
 */
export function touchSession(db: Knex, sessionId: string): void {
  const known = waiting.get(db);
  if (known) {
    known.add(sessionId);
    return;
  }
  const sessions = new Set([sessionId]);
  waiting.set(db, sessions);
  const note = () => {
    waiting.delete(db);
    void run(db, statement, [[...sessions]]).catch(() => undefined);
  };
  setTimeout(note, BATCH_MS).unref();
}
