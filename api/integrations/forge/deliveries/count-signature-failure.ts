import type { Knex } from 'knex';
import { wrapPool } from '../../../../db/knex-internals.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { recordSignatureBurst } from './record-signature-burst.js';

/** $1 = number of failures. */
const statement = defineStatement({
  name: 'count_forge_signature_failures',
  text: /* sql */ `
insert into forge_counters as c (shard, signature_failures_total, last_signature_failure_at)
values (pg_backend_pid() % 64, $1::int, now())
on conflict (shard) do update set signature_failures_total = c.signature_failures_total + excluded.signature_failures_total,
  last_signature_failure_at = excluded.last_signature_failure_at`,
});

/** This many failures within a minute are a burst, reported at most once an hour (docs/decisions/integrations.md#signature-failures). */
const BURST = { failures: 20, withinMs: 60_000, quietMs: 3_600_000 };

interface Tally {
  /** Failures not yet written. */
  waiting: number;
  /** The running statement; it never rejects. */
  running: Promise<void>;
  /** The next statement, which writes all failures counted until then. */
  next: Promise<void> | undefined;
  /** The current minute: its start in ms, and its failures. */
  minute: { since: number; failures: number };
  /** Time of the last report, in ms. */
  reportedAt: number;
}
const tallies = new WeakMap<Knex, Tally>();

/** Returns true if this is an unreported burst. */
function isBurst(tally: Tally, failures: number, now = Date.now()): boolean {
  if (now - tally.minute.since > BURST.withinMs) tally.minute = { since: now, failures: 0 };
  tally.minute.failures += failures;
  if (tally.minute.failures < BURST.failures || now - tally.reportedAt < BURST.quietMs) return false;
  tally.reportedAt = now;
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
 * Counts a delivery with a wrong signature and commits before the response. Senders without the secret can send any number, so
 * each process runs at most one statement; the next one counts all failures that arrived since. Never throws: without a database
 * the delivery is rejected all the same.
 */
export function countSignatureFailure(services: Services): Promise<void> {
  const pool = wrapPool(services.db);
  const tally = tallies.get(pool) ?? {
    waiting: 0,
    running: Promise.resolve(),
    next: undefined,
    minute: { since: 0, failures: 0 },
    reportedAt: 0,
  };
  tallies.set(pool, tally);
  tally.waiting += 1;
  tally.next ??= tally.running.then(() => {
    tally.running = flush(services, tally);
    return tally.running;
  });
  return tally.next;
}
