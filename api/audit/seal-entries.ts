import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { defineStatement, run } from '../../db/statement.js';
import { INSTANCE_CHAIN } from './chain.js';

/** Maximum entries per transaction: about 30 ms of work (docs/decisions/audit.md#audit-sealing). */
const MAX_ENTRIES = 1_000;
/** Maximum chains per transaction; they share its entries evenly. */
const MAX_CHAINS = 100;
/** Delay before retrying a chain whose lock another process owns, ms. */
const BUSY_PAUSE_MS = 5;
const LOWEST_CHAIN = INSTANCE_CHAIN;
const HIGHEST_CHAIN = INSTANCE_CHAIN.replaceAll('0', 'f');

const anyPending = defineStatement({ name: 'seal_any_pending', text: 'select from audit_pending limit 1' });
/** $1 = lowest chain, $2 = highest chain, $3 = chains to leave out, $4 = chain limit, $5 = entry limit. */
const sealBatch = defineStatement({ name: 'seal_batch', text: 'select audit_seal($1, $2, $3, $4, $5) as batch' });

/** $1 = chains. Returns those with pending entries. */
const pendingStatement = defineStatement({
  name: 'seal_pending_of',
  text: /* sql */ `
    select c.chain from unnest($1::uuid[]) as c(chain)
    cross join lateral (select from audit_pending p where p.chain = c.chain limit 1) p`,
});

export interface SealOptions {
  /** Seals this chain only. */
  chain?: string;
  /** Maximum wait for chains that another process is sealing, ms; 0 leaves them to that process. */
  lockTimeoutMs?: number;
}
export interface SealReport {
  sealed: number;
  /** Invalid pending rows, moved to `audit_rejected`; the product never writes such rows. */
  rejected: number;
  /** Chains that were not sealed, and why. */
  refused: { chain: string; reason: string }[];
  /** Chains that another process still had locked at the end of the wait. */
  busy: string[];
}
interface Batch extends SealReport {
  /** Some chain has more pending rows than its share. */
  more: boolean;
  /** The batch's last chain if others may follow. */
  last: string | null;
}

/** Returns the chain id after `chain`. */
function chainAfter(chain: string): string {
  const digits = (BigInt(`0x${chain.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Seals one batch of every chain from `from` to `highest`. Adds to `report` and returns whether some chain has more. */
async function sealPass(db: Knex, report: SealReport, from: string, highest: string): Promise<boolean> {
  let more = false;
  for (let lowest: string | undefined = from; lowest !== undefined; ) {
    const without = report.refused.map(({ chain }) => chain);
    const [row] = await run<{ batch: Batch }>(db, sealBatch, [lowest, highest, without, MAX_CHAINS, MAX_ENTRIES]);
    const { batch } = row as { batch: Batch };
    report.sealed += batch.sealed;
    report.rejected += batch.rejected;
    report.refused.push(...batch.refused);
    report.busy.push(...batch.busy);
    more ||= batch.more;
    lowest = batch.last === null ? undefined : chainAfter(batch.last);
  }
  return more;
}

/**
 * Links all committed entries into their chains. Any number of processes may call it concurrently, readers included: each chain has one
 * lock, which is only tried in the database, and the unique keys of `audit_seals` prevent a fork. An entry that commits later stays pending
 * and gets a later number. Chains are sealed in turns with equal shares. A chain whose head is not its last seal was tampered with; it is
 * reported and left unchanged. Invalid pending rows (without an entry, of another chain, of a sealed entry) are set aside and recorded as
 * CRITICAL.
 * @throws Error inside a transaction, which would keep the locks to its end and may have an old snapshot
 */
export async function sealEntries(db: Knex, { chain, lockTimeoutMs = 2_000 }: SealOptions = {}): Promise<SealReport> {
  if (db.isTransaction) throw new Error('Entries are sealed after the commit, in a transaction of their own');
  const report: SealReport = { sealed: 0, rejected: 0, refused: [], busy: [] };
  if ((await run(db, anyPending, [])).length === 0) return report;
  const deadline = Date.now() + lockTimeoutMs;
  for (;;) {
    report.busy = [];
    if (await sealPass(db, report, chain ?? LOWEST_CHAIN, chain ?? HIGHEST_CHAIN)) continue;
    if (report.busy.length === 0 || Date.now() >= deadline) return report;
    await sleep(BUSY_PAUSE_MS);
  }
}

/** Maximum wait of a reader for a chain that another process is sealing, ms. */
const READER_LOCK_TIMEOUT_MS = 500;

/** Seals what is pending in these chains, for a reader of them; costs one small look-up if nothing is. */
export async function sealChains(db: Knex, chains: string[]): Promise<void> {
  for (const { chain } of await run<{ chain: string }>(db, pendingStatement, [chains]))
    await sealEntries(db, { chain, lockTimeoutMs: READER_LOCK_TIMEOUT_MS });
}
