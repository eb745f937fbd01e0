import type { Knex } from 'knex';
import type { Services } from '../core/context.js';
import { type Break, GENESIS, HASHED_FIELDS, INSTANCE_CHAIN, type Link, linkEntry, type StoredEntry } from './chain.js';
import { sealEntries } from './seal-entries.js';
import { verifyCheckpoints } from './verify-checkpoints.js';

/** Seals read at once. */
const PAGE = 1_000;
/** Smaller than any sequence, also than one that somebody forged. */
const BEFORE_ALL: Place = { chain: INSTANCE_CHAIN, sequence: '-9223372036854775808' };

export interface ChainReport {
  /** What was checked, up to the first break. */
  chains: number;
  entries: number;
  checkpoints: number;
  /** The first break found; null = everything is as it was written. */
  broken: Break | null;
}

interface Place {
  chain: string;
  sequence: number | string;
}
/** A seal with its entry; `audit_id` is null when there is no such entry. */
type SealedEntry = StoredEntry & { chain: string; sequence: number; sealed_id: string; prev_hash: Buffer; entry_hash: Buffer };

/** Every seal with its entry, chain by chain in the order of the sequence. */
async function* readSeals(db: Knex): AsyncGenerator<SealedEntry> {
  let after = BEFORE_ALL;
  for (;;) {
    const { rows } = await db.raw<{ rows: SealedEntry[] }>(
      /* sql */ `
select s.chain, s.sequence, s.audit_id as sealed_id, s.prev_hash, s.entry_hash, e.*
from audit_seals s
left join lateral (select ${HASHED_FIELDS.join(', ')} from audit_entries where audit_id = s.audit_id limit 1) e on true
where (s.chain, s.sequence) > (?::uuid, ?::bigint) order by s.chain, s.sequence limit ${PAGE}`,
      [after.chain, after.sequence],
    );
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last;
  }
}

/** What is wrong with a seal that should follow `previous`; null when nothing is. */
function inspectSeal(seal: SealedEntry, previous: Link): Break | null {
  const { chain, sequence, sealed_id: audit_id } = seal;
  const broken = (kind: Break['kind'], detail: string): Break => ({ kind, chain, sequence, audit_id, detail });
  const expected = previous.sequence + 1;
  if (sequence !== expected) return broken('sequence_gap', `Sequence ${expected} is missing: the next seal has ${sequence}`);
  if (!seal.prev_hash.equals(previous.hash)) return broken('link_broken', 'The seal does not name the hash of the one before it');
  if (seal.audit_id === null) return broken('entry_missing', 'The sealed entry is not there');
  if ((seal.team_id ?? INSTANCE_CHAIN) !== chain)
    return broken('entry_misplaced', `The entry belongs to ${seal.team_id ?? 'no team'}`);
  const { hash } = linkEntry(seal, previous);
  if (!hash.equals(seal.entry_hash))
    return broken(
      'entry_changed',
      `The entry has the hash ${hash.toString('hex')}, sealed was ${seal.entry_hash.toString('hex')}`,
    );
  return null;
}

/** Compares the heads with the last seals. */
async function inspectHeads(db: Knex, last: Map<string, Link>): Promise<Break | null> {
  const { rows } = await db.raw<{ rows: { chain: string; sequence: number; entry_hash: Buffer }[] }>(
    'select chain, sequence, entry_hash from audit_heads order by chain',
  );
  const heads = new Map(rows.map(({ chain, sequence, entry_hash }) => [chain, { sequence, hash: entry_hash }]));
  for (const chain of new Set([...last.keys(), ...heads.keys()])) {
    const seal = last.get(chain) ?? GENESIS;
    const head = heads.get(chain) ?? GENESIS;
    if (head.sequence === seal.sequence && head.hash.equals(seal.hash)) continue;
    const detail = `The head is at sequence ${head.sequence}, the last seal at ${seal.sequence}`;
    return { kind: 'head_mismatch', chain, sequence: Math.min(head.sequence, seal.sequence) + 1, audit_id: null, detail };
  }
  return null;
}

/** Looks for an entry that came past the product: neither sealed nor waiting for it. */
async function findUnsealed(db: Knex): Promise<Break | null> {
  const { rows } = await db.raw<{ rows: { audit_id: string; chain: string }[] }>(
    /* sql */ `
select e.audit_id, coalesce(e.team_id, ?) as chain from audit_entries e
where not exists (select from audit_seals s where s.audit_id = e.audit_id)
  and not exists (select from audit_unsealed u where u.audit_id = e.audit_id)
order by e.timestamp, e.audit_id limit 1`,
    [INSTANCE_CHAIN],
  );
  const detail = 'The entry is neither sealed nor waiting for its seal';
  return rows[0] ? { kind: 'entry_unsealed', sequence: null, detail, ...rows[0] } : null;
}

/** Walks all chains as of one moment, so that writers may go on. Takes as long as it takes: no statement limit. */
async function verifySeals(db: Knex): Promise<Omit<ChainReport, 'checkpoints'>> {
  await db.raw('set local statement_timeout = 0');
  const last = new Map<string, Link>();
  let entries = 0;
  const report = (broken: Break | null) => ({ chains: last.size, entries, broken });
  for await (const seal of readSeals(db)) {
    const broken = inspectSeal(seal, last.get(seal.chain) ?? GENESIS);
    if (broken) return report(broken);
    last.set(seal.chain, { sequence: seal.sequence, hash: seal.entry_hash });
    entries += 1;
  }
  return report((await inspectHeads(db, last)) ?? (await findUnsealed(db)));
}

/**
 * Seals what is pending, then checks the whole log: every entry against its hash, every hash against the one before, heads,
 * entries that came past the product, and the signed checkpoints. Stops at the first break.
 * Source: decisions G6; durability notes, 3.6.
 */
export async function verifyChain({ db, config }: Pick<Services, 'db' | 'config'>): Promise<ChainReport> {
  await sealEntries(db);
  const seals = await db.transaction(verifySeals, { isolationLevel: 'repeatable read', readOnly: true });
  if (seals.broken) return { ...seals, checkpoints: 0 };
  // After the snapshot was taken: a checkpoint may be younger than that, and is compared with the chain as it is by then.
  return { ...seals, ...(await verifyCheckpoints({ db, config })) };
}
