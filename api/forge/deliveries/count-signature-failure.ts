import type { Knex } from 'knex';
import { poolOf } from '../../../db/knex-internals.js';
import { run, type Statement } from '../../../db/statement.js';
import type { Services } from '../../core/context.js';
import { recordSignatureBurst } from './record-signature-burst.js';

/** $1 how many. */
const statement: Statement = {
  name: 'count_forge_signature_failures',
  text: /* sql */ `
insert into forge_counters as c (shard, signature_failures_total, last_signature_failure_at)
values (pg_backend_pid() % 64, $1::int, now())
on conflict (shard) do update set signature_failures_total = c.signature_failures_total + excluded.signature_failures_total,
  last_signature_failure_at = excluded.last_signature_failure_at`,
};

/** So many failures within a minute are a burst; it is told once an hour, however long it lasts. */
const BURST = { failures: 20, withinMs: 60_000, quietMs: 3_600_000 };

interface Tally {
  /** Failures that no statement has taken along yet. */
  waiting: number;
  /** The statement under way; it never rejects. */
  running: Promise<void>;
  /** The one after it, which takes everything along that waits by then. */
  next: Promise<void> | undefined;
  /** The present minute: when it began, ms, and its failures. */
  minute: { since: number; failures: number };
  /** When a burst was told last, ms. */
  toldAt: number;
}
const tallies = new WeakMap<Knex, Tally>();

/** True when this makes a burst that has not been told yet. */
function isBurst(tally: Tally, failures: number, now = Date.now()): boolean {
  if (now - tally.minute.since > BURST.withinMs) tally.minute = { since: now, failures: 0 };
  tally.minute.failures += failures;
  if (tally.minute.failures < BURST.failures || now - tally.toldAt < BURST.quietMs) return false;
  tally.toldAt = now;
  return true;
}

async function flush(services: Services, tally: Tally): Promise<void> {
  const failures = tally.waiting;
  tally.waiting = 0;
  tally.next = undefined;
  try {
    await run(services.db, statement, [failures]);
    if (isBurst(tally, failures)) await recordSignatureBurst(services, tally.minute.failures);
  } catch (error) {
    services.log.warn({ err: error, failures }, 'signature failures not counted');
  }
}

/**
 * Counts a delivery whose signature is wrong, committed before the answer (R9). Whoever has no secret can send as many as they
 * like, so at most one statement a process is under way, and what comes meanwhile is counted together by the next one.
 * Never throws: without a database the delivery is refused all the same.
 */
export function countSignatureFailure(services: Services): Promise<void> {
  const pool = poolOf(services.db);
  const tally = tallies.get(pool) ?? {
    waiting: 0,
    running: Promise.resolve(),
    next: undefined,
    minute: { since: 0, failures: 0 },
    toldAt: 0,
  };
  tallies.set(pool, tally);
  tally.waiting += 1;
  tally.next ??= tally.running.then(() => {
    tally.running = flush(services, tally);
    return tally.running;
  });
  return tally.next;
}
