import { ForgeRepository } from '../../../../db/models/forge-repository.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat, seatInTeam } from '../../../platform/access/seats.js';
import { webAddress } from '../../../platform/config.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { authorizeBinding } from '../policy.js';
import type { ForgeAddress } from './schema.js';

interface AddressRow extends Record<string, unknown> {
  binding_id: string;
  secret_id: string;
  secret_prefix: string;
  previous_until: Date | null;
  created_by: string;
  created_at: Date;
  connected_at: Date | null;
  last_delivery_at: Date | null;
  last_event: string | null;
  last_refused_at: Date | null;
}

/** $1 = binding id or null, $2 = team id or null: the address of one, or all of the other. */
const readStatement = defineStatement({
  name: 'read_forge_addresses',
  text: /* sql */ `
    select a.binding_id, a.secret_id, a.secret_prefix, case when a.previous_until > now() then a.previous_until end as previous_until,
      a.created_by, a.created_at, a.connected_at, a.last_delivery_at, a.last_event, a.last_refused_at
    from forge_addresses a join forge_repositories r using (binding_id)
    where a.binding_id = $1 or r.team_id = $2`,
});

const iso = (moment: Date | null): string | null => moment?.toISOString() ?? null;

const present = (ctx: Pick<Context, 'config'>, row: AddressRow): ForgeAddress => ({
  ...row,
  url: webAddress(ctx.config, `/api/forge/webhooks/${row.binding_id}`),
  created_at: row.created_at.toISOString(),
  previous_until: iso(row.previous_until),
  connected_at: iso(row.connected_at),
  last_delivery_at: iso(row.last_delivery_at),
  last_refused_at: iso(row.last_refused_at),
});

/** Returns the address of a binding without its secret, which nobody can read; undefined if it has none. Checks no permission. */
export async function findAddress(ctx: Pick<Context, 'db' | 'config'>, bindingId: string): Promise<ForgeAddress | undefined> {
  const [row] = await run<AddressRow>(ctx.db, readStatement, [bindingId, null]);
  return row && present(ctx, row);
}

/**
 * Returns the addresses of a team's bindings, by the binding's id.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listAddresses(ctx: Context, teamId: string): Promise<Record<string, ForgeAddress>> {
  authorize('forge.read', await seatInTeam(ctx, teamId));
  const rows = await run<AddressRow>(ctx.db, readStatement, [null, teamId]);
  return Object.fromEntries(rows.map((row) => [row.binding_id, present(ctx, row)]));
}

/**
 * Returns what is known of the address of a binding.
 * @throws RESOURCE_NOT_FOUND no such binding, or it has no address | PERMISSION_DENIED below admin
 */
export async function getAddress(ctx: Context, bindingId: string): Promise<ForgeAddress> {
  const binding = await ForgeRepository.query(ctx.db).findById(bindingId);
  if (!binding) throw notFound('Binding');
  authorize('forge.read', await findSeat(ctx, binding.team_id));
  const address = await findAddress(ctx, bindingId);
  if (!address) throw notFound('Address');
  return address;
}

/**
 * Locks a binding whose address the caller may change.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export async function lockBinding(ctx: Context, bindingId: string): Promise<ForgeRepository> {
  const binding = await ForgeRepository.query(ctx.db).findById(bindingId);
  if (!binding) throw notFound('Binding');
  // The membership first, as the deletion of a team does; a stranger locks nothing.
  authorizeBinding(ctx.actor, await findSeat(ctx, binding.team_id));
  const locked = await ForgeRepository.query(ctx.db).findById(bindingId).forNoKeyUpdate();
  if (!locked) throw notFound('Binding');
  return locked;
}
