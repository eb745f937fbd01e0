import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Logger } from '../../api/platform/telemetry/log.js';
import { run } from '../../db/statement.js';
import { beatStatement, deleteEndedStatement } from './heartbeat.sql.js';

const HEARTBEAT_MS = 5_000;

export interface Heartbeat {
  /** Writes a heartbeat now; a failure is logged, and the next one comes within five seconds. */
  beat: () => void;
  /** Calls `onReady` after the next heartbeat that PostgreSQL stores. */
  announce: () => void;
  stop: () => void;
}

/**
 * Reports every five seconds that this worker lives and whether it reaches Temporal: the API's `/readyz` and the alerts read it. A row
 * per worker, so that a live worker does not hide a dead one, or the reverse.
 */
export function startHeartbeat(db: Knex, log: Logger, isReachable: () => boolean, onReady: () => void): Heartbeat {
  const name = `worker:${randomUUID()}`;
  let isReadyPending = false;
  let isStopped = false;
  const write = async (): Promise<void> => {
    const details = JSON.stringify({ temporal: isReachable(), pid: process.pid });
    await run(db, beatStatement, [name, details]);
    await run(db, deleteEndedStatement, []);
    if (isReadyPending) onReady();
    isReadyPending = false;
  };
  // A worker that stops leaves Temporal by itself: its last heartbeat must not say that Temporal is unreachable.
  const beat = (): void => {
    if (!isStopped) void write().catch((error: unknown) => log.warn({ err: error }, 'no heartbeat'));
  };
  const timer = setInterval(beat, HEARTBEAT_MS);
  return {
    beat,
    announce() {
      isReadyPending = true;
      beat();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
