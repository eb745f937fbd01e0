import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';
import type { Services } from '../core/context.js';

/** $1 how many. */
const statement: Statement = {
  name: 'count_forge_signature_failures',
  text: /* sql */ `
insert into forge_counters as c (slot, signature_failures_total, last_signature_failure_at)
values (pg_backend_pid() % 64, $1::int, now())
on conflict (slot) do update set signature_failures_total = c.signature_failures_total + excluded.signature_failures_total,
  last_signature_failure_at = excluded.last_signature_failure_at`,
};

interface Tally {
  /** Failures that no statement has taken along yet. */
  waiting: number;
  /** The statement under way; it never rejects. */
  running: Promise<void>;
  /** The one after it, which takes everything along that waits by then. */
  next: Promise<void> | undefined;
}
const tallies = new WeakMap<Knex, Tally>();

function flush({ db, log }: Pick<Services, 'db' | 'log'>, tally: Tally): Promise<void> {
  const failures = tally.waiting;
  tally.waiting = 0;
  tally.next = undefined;
  tally.running = run(db, statement, [failures]).then(
    () => undefined,
    (error: unknown) => log.warn({ err: error, failures }, 'signature failures not counted'),
  );
  return tally.running;
}

/**
 * Counts a delivery whose signature is wrong, committed before the answer (R9). Whoever has no secret can send as many as they
 * like, so at most one statement a process is under way, and what comes meanwhile is counted together by the next one.
 * Never throws: without a database the delivery is refused all the same.
 */
export function countSignatureFailure(services: Pick<Services, 'db' | 'log'>): Promise<void> {
  const tally = tallies.get(services.db) ?? { waiting: 0, running: Promise.resolve(), next: undefined };
  tallies.set(services.db, tally);
  tally.waiting += 1;
  tally.next ??= tally.running.then(() => flush(services, tally));
  return tally.next;
}
