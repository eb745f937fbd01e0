import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';
import { INSTANCE_CHAIN } from './chain.js';

/** Entries of one transaction: about 30 ms of work. */
const MAX_ENTRIES = 1_000;
/** Chains of one transaction. They share its entries evenly. */
const MAX_CHAINS = 100;
/** Pause before a chain is tried again whose lock another process holds, ms. */
const BUSY_PAUSE_MS = 5;
const LOWEST_CHAIN = INSTANCE_CHAIN;
const HIGHEST_CHAIN = INSTANCE_CHAIN.replaceAll('0', 'f');

const anyPending: Statement = { name: 'seal_any_pending', text: 'select from audit_pending limit 1' };
/** $1 = lowest chain, $2 = highest chain, $3 = chains to leave out, $4 = chain limit, $5 = entry limit. */
const sealBatch: Statement = { name: 'seal_batch', text: 'select audit_seal($1, $2, $3, $4, $5) as batch' };

export interface SealOptions {
  /** Seals this chain only. */
  chain?: string;
  /** How long to wait for chains that another process is sealing, ms; 0 leaves them to that process. */
  patience?: number;
}
export interface SealReport {
  sealed: number;
  /** Pending rows that the product never writes, set aside in `audit_rejected`. */
  rejected: number;
  /** Chains that are sealed no further, and why. */
  refused: { chain: string; reason: string }[];
  /** Chains that another process still held when patience ran out. */
  busy: string[];
}
interface Batch extends SealReport {
  /** Some chain has more pending rows than its share. */
  more: boolean;
  /** The batch's last chain when others may follow. */
  last: string | null;
}

/** The chain id that follows `chain`. */
function chainAfter(chain: string): string {
  const digits = (BigInt(`0x${chain.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** One turn of every chain from `from` to `highest`. Adds to `report` and returns whether some chain has more. */
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
 * Links every entry committed so far into its chain. Any number of processes may call it at once, readers before they read: each
 * chain has one lock, which is tried and never waited for in the database, and the unique keys of `audit_seals` would refuse a
 * fork. An entry that commits later is still pending then, and takes a later number. Chains are sealed in turns with equal shares.
 * A chain whose head is not its last seal was tampered with: it is left as it is and reported. A pending row that the product never
 * writes (without its entry, for another team's chain, for a sealed entry) is set aside and recorded as CRITICAL.
 * @throws Error inside a transaction: the locks would be held until its end, and its snapshot may be old
 */
export async function sealEntries(db: Knex, { chain, patience = 2_000 }: SealOptions = {}): Promise<SealReport> {
  if (db.isTransaction) throw new Error('Entries are sealed after the commit, in a transaction of their own');
  const report: SealReport = { sealed: 0, rejected: 0, refused: [], busy: [] };
  if ((await run(db, anyPending, [])).length === 0) return report;
  const deadline = Date.now() + patience;
  for (;;) {
    report.busy = [];
    if (await sealPass(db, report, chain ?? LOWEST_CHAIN, chain ?? HIGHEST_CHAIN)) continue;
    if (report.busy.length === 0 || Date.now() >= deadline) return report;
    await sleep(BUSY_PAUSE_MS);
  }
}
