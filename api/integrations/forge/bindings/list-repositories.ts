import { ForgeRepository } from '../../../../db/models/forge-repository.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { ListRepositories, RepositoryBinding } from '../schema.js';

/** A binding's database row. */
export type BindingRow = Omit<RepositoryBinding, 'created_at'> & { created_at: Date };

/** Converts a binding for the API. */
export const presentBinding = (row: BindingRow): RepositoryBinding => ({ ...row, created_at: row.created_at.toISOString() });

/**
 * Lists the team's repository bindings, oldest first.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function listRepositories(ctx: Context, { team_id, limit, offset }: ListRepositories): Promise<RepositoryBinding[]> {
  authorize('forge.read', await seatInTeam(ctx, team_id));
  const rows = await ForgeRepository.query(ctx.db)
    .where({ team_id })
    .orderBy(['created_at', 'binding_id'])
    .limit(limit)
    .offset(offset);
  return rows.map(presentBinding);
}
