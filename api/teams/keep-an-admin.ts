import { Membership } from '../../db/models/membership.js';
import type { Context } from '../core/context.js';
import { conflict } from '../core/errors.js';

/**
 * Refuses to take the seat of a team's last admin. The caller holds the team, so no other seat changes meanwhile.
 * @throws RESOURCE_CONFLICT
 */
export async function keepAnAdmin(ctx: Context, leaving: Membership): Promise<void> {
  if (leaving.role !== 'admin') return;
  const other = await Membership.query(ctx.db)
    .where({ team_id: leaving.team_id, role: 'admin' })
    .whereNot({ user_id: leaving.user_id })
    .first();
  if (!other) throw conflict('A team keeps at least one admin');
}
