import type { Knex } from 'knex';
import { defineStatement, run } from '../../db/statement.js';
import type { ArchivedEntries } from './archive/archived-entries.js';
import { type Break, MAX_BREAKS } from './break.js';
import { GENESIS, HASHED_FIELDS, INSTANCE_CHAIN, type Link, linkEntry, type StoredEntry } from './chain.js';

/** Page size of seals and of chain heads; verification needs the memory of one page. */
const PAGE = 1_000;
/** Below any sequence, forged ones included. */
const BEFORE_ALL: ChainPosition = { chain: INSTANCE_CHAIN, sequence: '-9223372036854775808' };
const AFTER_CHAIN = '9223372036854775807';

export interface SealsReport {
  /** Number of chains with seals. */
  chains: number;
  /** Number of valid entries, up to the first break of each chain. */
  entries: number;
  /** Those of them that are in archives. Without a folder of archives only their seals are verified. */
  archived: number;
  /** The first break of each chain. */
  breaks: Break[];
}

interface ChainPosition {
  chain: string;
  sequence: number | string;
}
/** A seal with its entry; `audit_id` is null without an entry. */
type SealedEntry = StoredEntry & { chain: string; sequence: number; sealed_id: string; prev_hash: Buffer; entry_hash: Buffer };

type Seal = Pick<SealedEntry, 'chain' | 'sequence' | 'sealed_id' | 'prev_hash' | 'entry_hash'>;

/** $1 = chain, $2 = sequence. */
const readSealsStatement = defineStatement({
  name: 'verify_read_seals',
  text: /* sql */ `
    select chain, sequence, audit_id as sealed_id, prev_hash, entry_hash from audit_seals
    where (chain, sequence) > ($1::uuid, $2::bigint) order by chain, sequence limit ${PAGE}`,
});
/** $1 = audit ids. */
const readEntriesStatement = defineStatement({
  name: 'verify_read_entries',
  text: `select ${HASHED_FIELDS.join(', ')} from audit_entries where audit_id = any($1::uuid[])`,
});

/**
 * Returns the seals after `place` with their entries, by chain and sequence. Two statements: with the ids of a page at hand the planner
 * leaves out all partitions but one or two, where a join would look into each of them for each entry.
 */
async function readPage(db: Knex, place: ChainPosition): Promise<SealedEntry[]> {
  const seals = await run<Seal>(db, readSealsStatement, [place.chain, place.sequence]);
  const rows = await run<StoredEntry>(db, readEntriesStatement, [seals.map(({ sealed_id }) => sealed_id)]);
  const entries = new Map(rows.map((entry) => [entry.audit_id, entry]));
  return seals.map((seal) => ({ ...seal, ...(entries.get(seal.sealed_id) ?? { audit_id: null }) }) as SealedEntry);
}

/** Returns the defect of a seal that should follow `previous`, or null. */
async function inspectSeal(seal: SealedEntry, previous: Link, archives: ArchivedEntries): Promise<Break | null> {
  const { chain, sequence, sealed_id: audit_id } = seal;
  const broken = (kind: Break['kind'], detail: string): Break => ({ kind, chain, sequence, audit_id, detail });
  const expected = previous.sequence + 1;
  if (sequence !== expected) return broken('sequence_gap', `Sequence ${expected} is missing: the next seal has ${sequence}`);
  if (!seal.prev_hash.equals(previous.hash)) return broken('link_broken', 'The seal does not name the hash of the one before it');
  const isArchived = seal.audit_id === null && archives.covers(seal);
  const entry = isArchived ? await archives.read(seal) : seal;
  if (entry === undefined) return null;
  const place = isArchived ? ` in ${archives.getFileName(seal)}` : '';
  if (entry === null || entry.audit_id === null) return broken('entry_missing', `The sealed entry is not there${place}`);
  if ((entry.team_id ?? INSTANCE_CHAIN) !== chain)
    return broken('entry_misplaced', `The entry${place} belongs to ${entry.team_id ?? 'no team'}`);
  const hash = linkEntry(entry, previous).hash.toString('hex');
  const sealed = seal.entry_hash.toString('hex');
  return hash === sealed ? null : broken('entry_changed', `The entry${place} has the hash ${hash}, sealed was ${sealed}`);
}

/** $1 = chains. */
const readHeadsStatement = defineStatement({
  name: 'verify_read_heads',
  text: 'select chain, h.sequence, h.entry_hash from unnest($1::uuid[]) c(chain) left join audit_heads h using (chain) order by chain',
});

/** Compares the heads of `chains` with their last seals. */
async function inspectHeads(db: Knex, chains: Map<string, Link>): Promise<Break[]> {
  const rows = await run<{ chain: string; sequence: number | null; entry_hash: Buffer | null }>(db, readHeadsStatement, [
    [...chains.keys()],
  ]);
  return rows.flatMap(({ chain, sequence, entry_hash }): Break[] => {
    const last = chains.get(chain) as Link;
    if (sequence === last.sequence && entry_hash?.equals(last.hash)) return [];
    const detail = `The head is at sequence ${sequence ?? 0}, the last seal at ${last.sequence}`;
    const first = Math.min(sequence ?? 0, last.sequence) + 1;
    return [{ kind: 'head_mismatch', chain, sequence: first, audit_id: null, detail }];
  });
}

const headsWithoutSealsStatement = defineStatement({
  name: 'find_heads_without_seals',
  text: /* sql */ `
    select chain, sequence from audit_heads h where not exists (select from audit_seals s where s.chain = h.chain)
    order by chain limit ${MAX_BREAKS}`,
});

/** Returns heads of chains without any seal. */
async function findHeadsWithoutSeals(db: Knex): Promise<Break[]> {
  const rows = await run<{ chain: string; sequence: number }>(db, headsWithoutSealsStatement, []);
  return rows.map(({ chain, sequence }) => ({
    kind: 'head_mismatch',
    chain,
    sequence: 1,
    audit_id: null,
    detail: `The head is at sequence ${sequence}, and the chain has no seals`,
  }));
}

/**
 * Statistics may be outdated, and a page must never scan a month. Each page is planned with its ids, since a plan for any ids would look into
 * every partition.
 */
const planPagesStatement = defineStatement({
  name: 'verify_plan_pages',
  text: `select set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`,
});

/**
 * Walks every chain from its first seal to its head, up to the first break of each. `db` is one snapshot. Linear in the number of entries,
 * in the memory of one page. Closes the files of `archives`.
 */
export async function verifySeals(db: Knex, archives: ArchivedEntries): Promise<SealsReport> {
  await run(db, planPagesStatement, []);
  const report: SealsReport = { chains: 0, entries: 0, archived: 0, breaks: [] };
  const ended = new Map<string, Link>();
  let chain: string | undefined;
  let last = GENESIS;
  const add = (...breaks: Break[]) => report.breaks.push(...breaks.slice(0, MAX_BREAKS - report.breaks.length));
  const endChain = async (isLast: boolean): Promise<void> => {
    if (chain !== undefined) ended.set(chain, last);
    if (ended.size < PAGE && !isLast) return;
    add(...(await inspectHeads(db, ended)));
    ended.clear();
  };
  for (let place = BEFORE_ALL; ; ) {
    const page = await readPage(db, place);
    let broken: Break | null = null;
    for (const seal of page) {
      if (seal.chain !== chain) {
        await endChain(false);
        chain = seal.chain;
        last = GENESIS;
        report.chains += 1;
      }
      broken = await inspectSeal(seal, last, archives);
      if (broken) break;
      last = { sequence: seal.sequence, hash: seal.entry_hash };
      report.entries += 1;
    }
    if (broken) {
      add(broken);
      place = { chain: chain as string, sequence: AFTER_CHAIN };
      chain = undefined;
    } else if (page.length < PAGE) break;
    else place = page.at(-1) as SealedEntry;
  }
  await endChain(true);
  add(...(await archives.finish(report.breaks.length === 0)));
  add(...(await findHeadsWithoutSeals(db)));
  report.archived = archives.count;
  return report;
}
