import type { Statement } from '../../db/statement.js';
import { HASHED_FIELDS, INSTANCE_CHAIN } from './chain.js';

export const anyPending: Statement = { name: 'seal_any_pending', text: 'select from audit_unsealed limit 1' };

/**
 * $1 = chains to leave out, $2 and $3 = the lowest and the highest chain id, $4 = chain limit. Tries to lock the next chains with pending entries, in
 * the order of their ids. It never waits, so it cannot deadlock: `locked` is false where another process seals. A separate statement,
 * because a statement that locks and reads would read a snapshot older than its lock, and fork the chain.
 */
export const lockChains: Statement = {
  name: 'seal_lock_chains',
  text: /* sql */ `
with recursive pending (n, chain) as (
  (select 1, u.chain from audit_unsealed u where u.chain between $2::uuid and $3::uuid and u.chain <> all($1::uuid[])
    order by u.chain limit 1)
  union all
  select p.n + 1, u.chain from pending p cross join lateral (
    select chain from audit_unsealed where chain > p.chain and chain <= $3::uuid and chain <> all($1::uuid[]) order by chain limit 1
  ) u where p.n < $4
)
select chain, pg_try_advisory_xact_lock(hashtextextended('audit_chain:' || chain, 0)) as locked from pending order by n`,
};

/**
 * $1 = locked chains, $2 = entry limit of each. A chain is sound when its head is its last seal; a new chain has neither. Returns
 * the pending rows of sound chains in the order in which they are sealed, and one row without `pending_id` for any other chain.
 * `reason` says why a pending row cannot be sealed. Lateral joins find each row by its key: statistics are always out of date here,
 * and a plain join was seen to read the whole table for each batch.
 */
export const readPending: Statement = {
  name: 'seal_read_pending',
  text: /* sql */ `
select c.chain, c.sound, c.head_sequence, c.head_hash, p.audit_id as pending_id, p.place, e.*,
  case when e.audit_id is null then 'entry_missing'
    when coalesce(e.team_id, '${INSTANCE_CHAIN}') <> c.chain then 'other_chain'
    when exists (select from audit_seals s where s.audit_id = p.audit_id) then 'already_sealed' end as reason
from (
  select c.chain, h.sequence as head_sequence, h.entry_hash as head_hash,
    h.sequence is not distinct from l.sequence and h.entry_hash is not distinct from l.entry_hash as sound
  from unnest($1::uuid[]) as c(chain)
  left join audit_heads h using (chain)
  left join lateral (
    select s.sequence, s.entry_hash from audit_seals s where s.chain = c.chain order by s.sequence desc limit 1
  ) l on true
) c
left join lateral (
  select u.audit_id, u.ctid::text as place from audit_unsealed u where u.chain = c.chain and c.sound order by u.audit_id limit $2
) p on true
left join lateral (select ${HASHED_FIELDS.join(', ')} from audit_entries where audit_id = p.audit_id limit 1) e on true
order by c.chain, e.timestamp, e.audit_id`,
};

/**
 * $1 to $5 = the seals by column, $6 to $8 = the new heads, $9 to $11 = the rejected rows, $12 = the places of all pending rows that
 * are done. A place stays valid because only the owner of the chain's lock removes its rows.
 */
export const writeSeals: Statement = {
  name: 'seal_write',
  text: /* sql */ `
with sealed as (
  insert into audit_seals (chain, sequence, audit_id, prev_hash, entry_hash)
  select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[], $5::bytea[])
), moved as (
  insert into audit_heads (chain, sequence, entry_hash) select * from unnest($6::uuid[], $7::bigint[], $8::bytea[])
  on conflict (chain) do update set sequence = excluded.sequence, entry_hash = excluded.entry_hash
), rejected as (
  insert into audit_rejected (chain, audit_id, reason) select * from unnest($9::uuid[], $10::uuid[], $11::text[])
  on conflict do nothing
)
delete from audit_unsealed where ctid = any($12::tid[])`,
};
