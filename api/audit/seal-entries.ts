import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { run } from '../../db/statement.js';
import { recordChange } from '../core/record-change.js';
import { GENESIS, INSTANCE_CHAIN, type Link, linkEntry, type StoredEntry } from './chain.js';
import { anyPending, lockChains, readPending, writeSeals } from './seal-entries.sql.js';

/** Entries of one transaction: about 30 ms of work. */
const MAX_ENTRIES = 1_000;
/** Chains of one transaction. They share its entries evenly. */
const MAX_CHAINS = 100;
/** Rejected rows that one audit entry names. */
const MAX_NAMED = 20;
/** Pause before a chain is tried again whose lock another process holds, ms. */
const BUSY_PAUSE_MS = 5;
const HIGHEST_CHAIN = INSTANCE_CHAIN.replaceAll('0', 'f');

/** A locked chain with its head, and one of its pending rows if the chain is sound and has any. */
type PendingRow = StoredEntry & {
  chain: string;
  sound: boolean;
  head_sequence: number | null;
  head_hash: Buffer | null;
  pending_id: string;
  /** Where the pending row is stored. */
  place: string;
  /** Why the row cannot be sealed, null when it can. */
  reason: string | null;
};
interface Seal {
  chain: string;
  audit_id: string;
  previous: Link;
  link: Link;
}
interface Batch {
  sealed: number;
  rejected: number;
  refused: Refusal[];
  busy: string[];
  /** Some chain has more pending rows than its share. */
  more: boolean;
  /** The batch's last chain; undefined when no chain follows. */
  last: string | undefined;
}

/** A chain that is sealed no further. */
interface Refusal {
  chain: string;
  /** Completes "…, because". */
  reason: string;
}

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
  refused: Refusal[];
  /** Chains that another process still held when patience ran out. */
  busy: string[];
}

/** Links each entry to the one before it in its chain and leaves the new heads in `heads`. */
function linkAll(rows: PendingRow[], heads: Map<string, Link>): Seal[] {
  return rows.map((row) => {
    const previous = heads.get(row.chain) ?? GENESIS;
    const link = linkEntry(row, previous);
    heads.set(row.chain, link);
    return { chain: row.chain, audit_id: row.pending_id, previous, link };
  });
}

/** Leaves an audit entry that names what was set aside: the rows themselves can be deleted, the entry cannot. */
async function recordRejected(db: Knex, rows: PendingRow[]): Promise<void> {
  const requestId = uuidv7();
  const actor = { type: 'system', name: 'sealer' } as const;
  await recordChange(
    { db, actor, requestId, correlationId: requestId, ip: null, userAgent: null },
    {
      team_id: null,
      feature: 'audit',
      action: 'verify',
      severity: 'CRITICAL',
      outcome: 'failure',
      entity_type: 'audit_chain',
      entity_id: null,
      details: {
        rejected: rows.length,
        first: rows.slice(0, MAX_NAMED).map(({ chain, pending_id, reason }) => ({ chain, audit_id: pending_id, reason })),
      },
    },
  );
}

/** Seals what `rows` holds of locked chains and sets aside what cannot be sealed. */
async function sealRows(db: Knex, rows: PendingRow[]): Promise<Pick<Batch, 'sealed' | 'rejected'>> {
  const heads = new Map<string, Link>();
  for (const { chain, head_sequence, head_hash } of rows)
    if (head_sequence !== null && head_hash) heads.set(chain, { sequence: head_sequence, hash: head_hash });
  const rejected = rows.filter((row) => row.reason !== null);
  const seals = linkAll(
    rows.filter((row) => row.reason === null),
    heads,
  );
  await run(db, writeSeals, [
    seals.map((seal) => seal.chain),
    seals.map((seal) => seal.link.sequence),
    seals.map((seal) => seal.audit_id),
    seals.map((seal) => seal.previous.hash),
    seals.map((seal) => seal.link.hash),
    [...heads.keys()],
    [...heads.values()].map((head) => head.sequence),
    [...heads.values()].map((head) => head.hash),
    rejected.map((row) => row.chain),
    rejected.map((row) => row.pending_id),
    rejected.map((row) => row.reason),
    rows.map((row) => row.place),
  ]);
  if (rejected.length > 0) await recordRejected(db, rejected);
  return { sealed: seals.length, rejected: rejected.length };
}

/** The chain id that follows `chain`. */
function chainAfter(chain: string): string {
  const digits = (BigInt(`0x${chain.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The rows to reject: what the query found, and a row that is there twice. */
function markRepeated(rows: PendingRow[]): PendingRow[] {
  const seen = new Set<string>();
  return rows.map((row) => {
    const isRepeated = row.reason === null && seen.has(row.pending_id);
    seen.add(row.pending_id);
    return isRepeated ? { ...row, reason: 'already_sealed' } : row;
  });
}

/** Which chains a batch takes. */
interface Range {
  lowest: string;
  highest: string;
  maxChains: number;
  without: string[];
}

/** One batch in one transaction. Leaves the ids of its chains in `tried`. */
async function sealBatch(db: Knex, { lowest, highest, maxChains, without }: Range, tried: string[]): Promise<Batch> {
  const chains = await run<{ chain: string; locked: boolean }>(db, lockChains, [without, lowest, highest, maxChains]);
  tried.push(...chains.map(({ chain }) => chain));
  const locked = chains.flatMap(({ chain, locked: isLocked }) => (isLocked ? [chain] : []));
  const busy = chains.flatMap(({ chain, locked: isLocked }) => (isLocked ? [] : [chain]));
  const share = Math.ceil(MAX_ENTRIES / Math.max(1, locked.length));
  const found = locked.length > 0 ? await run<PendingRow>(db, readPending, [locked, share]) : [];
  const rows = markRepeated(found.filter((row) => row.pending_id !== null));
  const done = rows.length > 0 ? await sealRows(db, rows) : { sealed: 0, rejected: 0 };
  const counts = new Map<string, number>();
  for (const { chain } of rows) counts.set(chain, (counts.get(chain) ?? 0) + 1);
  return {
    ...done,
    refused: found.filter((row) => !row.sound).map(({ chain }) => ({ chain, reason: 'its head is not its last seal' })),
    busy,
    more: done.rejected > 0 || [...counts.values()].includes(share),
    last: chains.length === maxChains ? chains.at(-1)?.chain : undefined,
  };
}

/** True when PostgreSQL refused the rows themselves: bad data, a broken constraint, a missing table, an error that a trigger raises. */
const isRowError = (error: unknown): error is Error => /^(22|23|42|P0)/.test(String((error as { code?: unknown }).code));

/**
 * One turn of every chain from `lowest` to `highest`. When a batch is refused by the database its chains are tried one by one, so
 * that one tampered chain stops no other. Adds to `report` and returns whether some chain has more.
 */
async function sealTurn(db: Knex, report: SealReport, from: string, highest: string): Promise<boolean> {
  let more = false;
  let maxChains = MAX_CHAINS;
  for (let lowest: string | undefined = from; lowest !== undefined; ) {
    const range: Range = { lowest, highest, maxChains, without: report.refused.map(({ chain }) => chain) };
    const tried: string[] = [];
    let last: string | undefined;
    try {
      const batch: Batch = await db.transaction((trx) => sealBatch(trx, range, tried), { isolationLevel: 'read committed' });
      report.sealed += batch.sealed;
      report.rejected += batch.rejected;
      report.refused.push(...batch.refused);
      report.busy.push(...batch.busy);
      more ||= batch.more;
      last = batch.last;
    } catch (error) {
      if (!isRowError(error) || tried[0] === undefined) throw error;
      if (maxChains > 1) {
        maxChains = 1;
        continue;
      }
      report.refused.push({ chain: tried[0], reason: error.message });
      last = tried[0];
    }
    lowest = last === undefined || last === highest ? undefined : chainAfter(last);
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
    if (await sealTurn(db, report, chain ?? INSTANCE_CHAIN, chain ?? HIGHEST_CHAIN)) continue;
    if (report.busy.length === 0 || Date.now() >= deadline) return report;
    await sleep(BUSY_PAUSE_MS);
  }
}
