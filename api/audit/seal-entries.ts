import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';
import { GENESIS, HASHED_FIELDS, type Link, linkEntry, type StoredEntry } from './chain.js';

/** Entries of one transaction: about 30 ms of work. */
const BATCH = 1_000;

const anyPending: Statement = { name: 'seal_any_pending', text: 'select from audit_unsealed limit 1' };
const lock: Statement = { name: 'seal_lock', text: `select pg_advisory_xact_lock(hashtextextended('audit_seals', 0))` };

/**
 * $1 chains to leave alone. The oldest first by id, which the primary key gives without a sort; then in the order of each chain.
 * The lateral join looks each entry up by its key: statistics are always behind here, and a plain join was seen to read the
 * whole table for each batch.
 */
const readPending: Statement = {
  name: 'seal_read_pending',
  text: /* sql */ `
select p.chain, e.*
from (select chain, audit_id from audit_unsealed where chain <> all($1::uuid[]) order by audit_id limit ${BATCH}) p
cross join lateral (select ${HASHED_FIELDS.join(', ')} from audit_entries where audit_id = p.audit_id limit 1) e
order by p.chain, e.timestamp, e.audit_id`,
};

/** $1 chains. A chain is sound when its head is its last seal; a new chain has neither. */
const readHeads: Statement = {
  name: 'seal_read_heads',
  text: /* sql */ `
select c.chain, h.sequence, h.entry_hash,
  h.sequence is not distinct from l.sequence and h.entry_hash is not distinct from l.entry_hash as sound
from unnest($1::uuid[]) as c(chain)
left join audit_heads h using (chain)
left join lateral (
  select s.sequence, s.entry_hash from audit_seals s where s.chain = c.chain order by s.sequence desc limit 1
) l on true`,
};

/** $1 to $5 the seals by column, $6 to $8 the new heads. */
const writeSeals: Statement = {
  name: 'seal_write',
  text: /* sql */ `
with sealed as (
  insert into audit_seals (chain, sequence, audit_id, prev_hash, entry_hash)
  select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[], $5::bytea[])
), moved as (
  insert into audit_heads (chain, sequence, entry_hash) select * from unnest($6::uuid[], $7::bigint[], $8::bytea[])
  on conflict (chain) do update set sequence = excluded.sequence, entry_hash = excluded.entry_hash
)
delete from audit_unsealed where audit_id = any($3::uuid[])`,
};

type PendingEntry = StoredEntry & { chain: string; audit_id: string };
type Head = { chain: string; sequence: number | null; entry_hash: Buffer | null; sound: boolean };
type Seal = { chain: string; audit_id: string; previous: Link; link: Link };

/** Links each entry to the one before it in its chain and leaves the new heads in `heads`. */
function linkAll(entries: PendingEntry[], heads: Map<string, Link>): Seal[] {
  return entries.map((entry) => {
    const previous = heads.get(entry.chain) ?? GENESIS;
    const link = linkEntry(entry, previous);
    heads.set(entry.chain, link);
    return { chain: entry.chain, audit_id: entry.audit_id, previous, link };
  });
}

/**
 * One batch in one transaction. The lock is a statement of its own: a statement that takes it and reads would read as of before
 * the lock was granted, and fork (durability notes, 3.6).
 */
async function sealBatch(db: Knex, refused: string[]): Promise<{ read: number; sealed: number; unsound: string[] }> {
  await run(db, lock, []);
  const pending = await run<PendingEntry>(db, readPending, [refused]);
  const found = await run<Head>(db, readHeads, [[...new Set(pending.map((entry) => entry.chain))]]);
  const unsound = found.flatMap((head) => (head.sound ? [] : [head.chain]));
  const heads = new Map<string, Link>();
  for (const { chain, sequence, entry_hash } of found) {
    if (sequence !== null && entry_hash) heads.set(chain, { sequence, hash: entry_hash });
  }
  for (const chain of unsound) heads.delete(chain);
  const seals = linkAll(
    pending.filter((entry) => !unsound.includes(entry.chain)),
    heads,
  );
  if (seals.length > 0) {
    await run(db, writeSeals, [
      seals.map((seal) => seal.chain),
      seals.map((seal) => seal.link.sequence),
      seals.map((seal) => seal.audit_id),
      seals.map((seal) => seal.previous.hash),
      seals.map((seal) => seal.link.hash),
      [...heads.keys()],
      [...heads.values()].map((head) => head.sequence),
      [...heads.values()].map((head) => head.hash),
    ]);
  }
  return { read: pending.length, sealed: seals.length, unsound };
}

/**
 * Links every entry committed so far into its chain. Any number of processes may call it at once, readers before they read:
 * one lock puts them in single file, and the unique keys of `audit_seals` would refuse a fork. An entry that commits later is
 * still in `audit_unsealed` then, and takes a later number.
 * A chain whose head is not its last seal was tampered with: it is reported to `onRefused` and left as it is, the others go on.
 * @returns how many entries were sealed
 * @throws Error inside a transaction: the lock would be held until its end, and its snapshot may be old
 * Source: decisions G6; performance notes, 2.
 */
export async function sealEntries(db: Knex, onRefused: (chain: string) => void = () => undefined): Promise<number> {
  if (db.isTransaction) throw new Error('Entries are sealed after the commit, in a transaction of their own');
  if ((await run(db, anyPending, [])).length === 0) return 0;
  const refused: string[] = [];
  for (let total = 0; ; ) {
    const batch = await db.transaction((trx) => sealBatch(trx, refused), { isolationLevel: 'read committed' });
    batch.unsound.forEach(onRefused);
    refused.push(...batch.unsound);
    total += batch.sealed;
    if (batch.read < BATCH) return total;
  }
}
