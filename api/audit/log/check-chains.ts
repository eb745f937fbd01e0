import { run, type Statement } from '../../../db/statement.js';
import { type Context, userOf } from '../../core/context.js';
import { nextTurn } from '../../core/event-loop.js';
import { GENESIS, linkEntry, type StoredEntry } from '../chain.js';
import { coveredTeams } from './covered-teams.js';
import { type EntryKey, headsStatement } from './entries.sql.js';
import { takeExportSlot } from './export-slots.js';
import { readRecords } from './find-entries.js';
import { MAX_ENTRIES } from './filters.js';

/** Entries that are hashed before other requests get a turn. */
const CHUNK = 200;

/** $1 = chain, $2 = last sequence, $3 = limit. The newest seals, newest first. */
const newestSeals: Statement = {
  name: 'audit_newest_seals',
  text: /* sql */ `
    select audit_id, chain as team_id, sequence, entry_hash from audit_seals
    where chain = $1 and sequence <= $2 order by sequence desc limit $3`,
};

/** The chain of one team. */
export interface ChainState {
  team_id: string;
  /** Number of its entries: the sequence of the last one. */
  entries: number;
  /** Hash of the last entry, hexadecimal. */
  head_hash: string;
}

/** Result of a check of the newest entries. */
export interface ChainCheck {
  /** Entries whose hashes and links were checked. */
  checked: number;
  /** Time of the newest one, naive UTC; null without any. */
  up_to: string | null;
  /** The first entry that is wrong. */
  broken: { audit_id: string; sequence: number } | null;
}

/**
 * Returns the chains of the teams that the caller administers, by team.
 * @throws PERMISSION_DENIED
 */
export async function readChains(ctx: Context, teamId?: string): Promise<ChainState[]> {
  const teams = await coveredTeams(ctx, teamId);
  const rows = await run<{ chain: string; sequence: number; entry_hash: Buffer }>(ctx.db, headsStatement, [teams]);
  return rows.map(({ chain, sequence, entry_hash }) => ({
    team_id: chain,
    entries: sequence,
    head_hash: entry_hash.toString('hex'),
  }));
}

interface SealedRecord extends Record<string, unknown> {
  audit_id: string;
  sequence: number;
  timestamp: string;
  details_text: string | null;
  prev_hash: string;
  entry_hash: string;
}

/** Returns whether the content and the place of an entry have the hash of its seal, and the entry behind it follows it. */
function fits(record: SealedRecord, seal: EntryKey, followedBy: string): boolean {
  const stored = { ...record, details: record.details_text } as unknown as StoredEntry;
  const { hash } = linkEntry(stored, { sequence: record.sequence - 1, hash: Buffer.from(record.prev_hash, 'hex') });
  const isFirst = record.sequence !== 1 || record.prev_hash === GENESIS.hash.toString('hex');
  return isFirst && record.sequence === seal.sequence && hash.equals(seal.entry_hash) && followedBy === record.entry_hash;
}

/** Checks seals, newest first; `head` is the hash that the newest one must have. */
async function checkSeals(ctx: Context, seals: EntryKey[], head: string): Promise<ChainCheck> {
  let up_to: string | null = null;
  let followedBy = head;
  for (let at = 0; at < seals.length; at += CHUNK) {
    const chunk = seals.slice(at, at + CHUNK);
    const records = JSON.parse(`[${await readRecords(ctx, chunk)}]`) as SealedRecord[];
    for (const [place, seal] of chunk.entries()) {
      const record = records[place];
      if (!record || record.audit_id !== seal.audit_id || !fits(record, seal, followedBy))
        return { checked: at + place, up_to, broken: seal };
      up_to ??= record.timestamp;
      followedBy = record.prev_hash;
    }
    await nextTurn();
  }
  return { checked: seals.length, up_to, broken: null };
}

/**
 * Hashes the newest 10,000 entries of one team again and compares them with their seals and with each other.
 * @throws PERMISSION_DENIED; INTERNAL_ERROR 503 while the caller's exports run
 */
export async function checkChain(ctx: Context, teamId: string): Promise<ChainState & ChainCheck> {
  const release = await takeExportSlot(userOf(ctx));
  try {
    const [chain] = (await readChains(ctx, teamId)) as [ChainState];
    const seals = await run<EntryKey & Record<string, unknown>>(ctx.db, newestSeals, [teamId, chain.entries, MAX_ENTRIES]);
    return { ...chain, ...(await checkSeals(ctx, seals, chain.head_hash)) };
  } finally {
    release();
  }
}
