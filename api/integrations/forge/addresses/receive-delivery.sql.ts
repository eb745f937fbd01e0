import { defineStatement } from '../../../../db/statement.js';
import { ASYNC_COMMIT } from '../../../platform/outbox/match-events.sql.js';

/** $1 = binding id. The address of a bound repository with the secrets that count now. One look-up by an index. */
export const findAddressStatement = defineStatement({
  name: 'find_forge_address',
  text: /* sql */ `
    select r.binding_id, r.repo, r.team_id, r.project_id, a.data_key, a.sealed_value,
      case when a.previous_until > now() then a.previous_data_key end as previous_data_key,
      case when a.previous_until > now() then a.previous_sealed_value end as previous_sealed_value
    from forge_addresses a join forge_repositories r using (binding_id) join teams t on t.team_id = r.team_id and t.deleted_at is null
    where a.binding_id = $1`,
});

/** $1 = binding id. At most once in ten seconds, so that a flood writes little; of an unknown address nothing, at the same cost. */
export const noteUnsignedStatement = defineStatement({
  name: 'note_unsigned_forge_delivery',
  text: /* sql */ `
    update forge_addresses set last_refused_at = now()
    where binding_id = $1 and (last_refused_at is null or last_refused_at < now() - interval '10 seconds') and ${ASYNC_COMMIT}`,
});

/**
 * SQL: whether a secret is one of an address's, and counts. Who holds a secret is read with the delivery that it signed: it may have been replaced since
 * the signature was checked, because a body may come slowly.
 */
const isSecret = (value: string): string =>
  `${value}::bytea in (sealed_value, case when previous_until > now() then previous_sealed_value end)`;

/**
 * Stores a signed delivery. $1 = binding id, $2 = delivery id, $3 = event header or null, $4 = normalized event or null, $5 = payload (jsonb), $6 = reason
 * if ignored, $7 = request id, $8 = the encrypted secret that signed it. Returns one row, or none if that secret counts no longer: `duplicate`, and `connects` for the first one. The receipt's key is
 * locked before the address, so two repeats wait only for the key.
 */
export const storeDeliveryStatement = defineStatement({
  name: 'store_forge_address_delivery',
  text: /* sql */ `
with holders as materialized (
  select binding_id, connected_at is null as connects,
    held_by || case when previous_until > now() then previous_held_by else '{}' end as held_by
  from forge_addresses where binding_id = $1 and ${isSecret('$8')}
), receipt as (
  insert into forge_address_deliveries (binding_id, delivery_id, event, normalized, payload, held_by, outcome, reason)
  select binding_id, $2, $3::text, $4::text, $5::jsonb, held_by, case when $4 is null then 'ignored' end, $6::text from holders
  on conflict (delivery_id, binding_id) where outcome is distinct from 'duplicate' and outcome is distinct from 'refused' do nothing
  returning receipt_id
), tally as (
  select count(*)::int as fresh from receipt
), repeat as (
  insert into forge_address_deliveries (binding_id, delivery_id, event, normalized, held_by, outcome, reason)
  select binding_id, $2, $3, $4, held_by, 'duplicate', 'This delivery id was handled already' from holders, tally where fresh = 0
), work as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'forge.address_delivery', $4, jsonb_build_object('receipt_id', receipt_id), $7::uuid from receipt where $4 is not null
), seen as (
  update forge_addresses a set connected_at = coalesce(connected_at, now()), last_delivery_at = now(), last_event = $3
  from tally where a.binding_id = $1
)
select fresh = 0 as duplicate, connects from tally, holders`,
});

/**
 * $1 = binding id, $2 = delivery id, $3 = event header or null, $4 = reason, $5 = the encrypted secret that signed it. A signed delivery that does nothing;
 * its id stays good. Returns a row, or none if that secret counts no longer.
 */
export const storeRefusedStatement = defineStatement({
  name: 'store_refused_forge_delivery',
  text: /* sql */ `
    insert into forge_address_deliveries (binding_id, delivery_id, event, held_by, outcome, reason)
    select binding_id, $2, $3, held_by, 'refused', $4 from forge_addresses where binding_id = $1 and ${isSecret('$5')} returning 1`,
});
