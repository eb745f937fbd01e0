import { ForgeRepository } from '../../../../db/models/forge-repository.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';
import { authorizeBinding } from '../policy.js';

/**
 * Deletes a binding. Its tasks and links remain.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function unbindRepository(ctx: Context, bindingId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const binding = await ForgeRepository.query(ctx.db).findById(bindingId).forUpdate();
    if (!binding) throw notFound('Binding');
    const { team_id, project_id, repo, sync_issues } = binding;
    authorizeBinding(ctx.actor, await findSeat(ctx, team_id));
    await binding.$query(ctx.db).delete();
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'forge',
      action: 'delete',
      severity: 'MEDIUM',
      entity_type: 'forge_repository',
      entity_id: bindingId,
      title: repo,
      summary: 'unbound the repository',
      details: { repo, project_id, sync_issues },
    });
  });
}
