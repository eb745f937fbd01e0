import { defineStatement } from '../../../db/statement.js';
import { HASHED_FIELDS } from '../chain.js';

/** Chains of one request; those that waited longest come first, so that a busy one delays no other. */
export const CHAINS = 20;
/** Entries, and bytes of their details, that a chain has in one request. An entry that is larger goes alone. */
const ENTRIES = 250;
const BYTES = 250_000;
/** Time after which another worker may send what one that died has claimed. Longer than a request. */
const LEASE = '30 seconds';

/** $1 = how many at most. Claims chains that are behind their head; returns the position of each. */
export const claimChainsStatement = defineStatement({
  name: 'claim_audit_stream',
  text: /* sql */ `
    with fresh as (
      insert into audit_stream (chain) select h.chain from audit_heads h
      where not exists (select from audit_stream s where s.chain = h.chain) limit ${CHAINS} on conflict do nothing
    ),
    due as (
      select s.chain from audit_stream s join audit_heads h using (chain) where h.sequence > s.sequence and s.claimed_until < now()
      order by s.claimed_until, s.chain limit $1 for update of s skip locked
    )
    update audit_stream s set claimed_until = now() + interval '${LEASE}' from due where s.chain = due.chain returning s.chain, s.sequence`,
});

/** $1 = chains, $2 = the position of each. The entries that follow, with the heads of their chains; an archived entry has its seal only. */
export const readEntriesStatement = defineStatement({
  name: 'read_audit_stream',
  text: /* sql */ `
    select c.chain, n.sequence, n.prev_hash, n.entry_hash, h.sequence as head_sequence, encode(h.entry_hash, 'hex') as head_hash,
      ${HASHED_FIELDS.map((field) => `n.${field}`).join(', ')}
    from unnest($1::uuid[], $2::bigint[]) as c(chain, sent)
    join audit_heads h on h.chain = c.chain
    cross join lateral (
      select s.sequence, encode(s.prev_hash, 'hex') as prev_hash, encode(s.entry_hash, 'hex') as entry_hash, e.*,
        sum(octet_length(e.details)) over (order by s.sequence) as bytes
      from audit_seals s left join audit_entries e on e.audit_id = s.audit_id
      where s.chain = c.chain and s.sequence > c.sent and s.sequence <= c.sent + ${ENTRIES}
    ) n
    where n.sequence = c.sent + 1 or n.bytes is null or n.bytes <= ${BYTES}
    order by c.chain, n.sequence`,
});

/**
 * $1 = chains, $2 = the position before, $3 = after. Moves only those that still stand where they were read, and frees them at once; they queue
 * behind the others.
 */
export const moveStatement = defineStatement({
  name: 'move_audit_stream',
  text: /* sql */ `
    update audit_stream s set sequence = m.sent, claimed_until = now()
    from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as m(chain, was, sent) where s.chain = m.chain and s.sequence = m.was`,
});
