import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { nextTurn } from '../../platform/event-loop.js';
import { GENESIS, linkEntry, type StoredEntry } from '../chain.js';
import type { EntryKey } from './entries.sql.js';
import { takeExportSlot } from './export-slots.js';
import { readRecords } from './find-entries.js';
import { MAX_ENTRIES } from './filters.js';
import { Allowance } from './allowance.js';
import type { ChainHead } from './read-heads.js';

/** Entries that are hashed before other requests get a turn. */
const CHUNK = 200;

/** $1 = chain, $2 = last sequence, $3 = limit. The newest seals, newest first. The entry of an archived month is not in the log. */
const newestSeals = defineStatement({
  name: 'audit_newest_seals',
  text: /* sql */ `
    select s.audit_id, s.chain as team_id, s.sequence, s.entry_hash, encode(s.prev_hash, 'hex') as previous,
      exists (select from audit_archives a where s.audit_id >= a.lower_id and s.audit_id < a.upper_id) as is_archived
    from audit_seals s where s.chain = $1 and s.sequence <= $2 order by s.sequence desc limit $3`,
});

/** Result of a check of the newest entries. */
export interface ChainCheck {
  /** Entries whose hashes and links were checked. */
  checked: number;
  /** Time of the newest one, naive UTC; null without any. */
  up_to: string | null;
  /** The first entry that is wrong. */
  broken: { audit_id: string; sequence: number } | null;
}

interface Seal extends EntryKey, Record<string, unknown> {
  previous: string;
  is_archived: boolean;
}

interface SealedRecord extends Record<string, unknown> {
  audit_id: string;
  sequence: number;
  timestamp: string;
  details_text: string | null;
  prev_hash: string;
  entry_hash: string;
}

/** Returns whether the content and the place of an entry have the hash of its seal. */
function fits(record: SealedRecord | undefined, { sequence, entry_hash, previous }: Seal): boolean {
  if (!record) return false;
  const stored = { ...record, details: record.details_text } as unknown as StoredEntry;
  return linkEntry(stored, { sequence: sequence - 1, hash: Buffer.from(previous, 'hex') }).hash.equals(entry_hash);
}

/** Checks seals, newest first; `head` is the hash that the newest one must have. Of archived entries only the seals are here. */
async function checkSeals(ctx: Context, seals: Seal[], head: string): Promise<ChainCheck> {
  let up_to: string | null = null;
  let checked = 0;
  let expected = head;
  for (let at = 0; at < seals.length; at += CHUNK) {
    const chunk = seals.slice(at, at + CHUNK);
    const records = JSON.parse(`[${await readRecords(ctx, chunk)}]`) as SealedRecord[];
    const byId = new Map(records.map((record) => [record.audit_id, record]));
    for (const seal of chunk) {
      const record = byId.get(seal.audit_id);
      const isFirst = seal.sequence !== 1 || seal.previous === GENESIS.hash.toString('hex');
      const isWhole = seal.is_archived || fits(record, seal);
      if (!isFirst || !isWhole || seal.entry_hash.toString('hex') !== expected) return { checked, up_to, broken: seal };
      expected = seal.previous;
      up_to ??= record?.timestamp ?? null;
      checked += 1;
    }
    await nextTurn();
  }
  return { checked, up_to, broken: null };
}

/** Entries that one user may have hashed in a minute by one process: a twentieth of a core. */
const MAX_PER_MINUTE = 100_000;
const allowance = new Allowance(MAX_PER_MINUTE, 60_000);

/**
 * Hashes the newest 10,000 entries of chains of `coveredTeams` again and compares them with their seals and with each other. Leaves out chains
 * beyond what the user may have hashed in a minute.
 * @throws INTERNAL_ERROR 503 while the caller's exports run
 */
export async function checkChains(ctx: Context, chains: ChainHead[]): Promise<(ChainHead & ChainCheck)[]> {
  const release = await takeExportSlot(requireUser(ctx));
  try {
    const checked: (ChainHead & ChainCheck)[] = [];
    for (const chain of chains) {
      const { team_id, last_sequence, head_hash } = chain;
      if (!allowance.take(requireUser(ctx), Math.min(last_sequence, MAX_ENTRIES))) continue;
      const seals = await run<Seal>(ctx.db, newestSeals, [team_id, last_sequence, MAX_ENTRIES]);
      checked.push({ ...chain, ...(await checkSeals(ctx, seals, head_hash)) });
    }
    return checked;
  } finally {
    release();
  }
}
