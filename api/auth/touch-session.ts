import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';

/** A session's use is noted at most this often, s. */
export const NOTE_AFTER_SECONDS = 60;
/** Sessions that come within this time are noted together, ms. */
const GATHER_MS = 1_000;

/** $1 sessions. */
const statement: Statement = {
  name: 'touch_sessions',
  text: /* sql */ `
    update sessions set last_seen_at = now()
    where session_id = any($1::uuid[]) and last_seen_at < now() - interval '${NOTE_AFTER_SECONDS} seconds'`,
};

const waiting = new WeakMap<Knex, Set<string>>();

/** Notes that a session is in use: later, many in one statement, and never on a request's path. What fails is noted next time (A5). */
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
  setTimeout(note, GATHER_MS).unref();
}
