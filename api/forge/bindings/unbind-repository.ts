import { type Context, inTransaction } from '../../core/context.js';
import { notFound } from '../../core/errors.js';
import { recordChange } from '../../core/record-change.js';
import { seatOf } from '../../core/seats.js';
import type { BindingRow } from './list-repositories.js';
import { authorizeBinding } from '../policy.js';

/**
 * Deletes a binding. Its tasks and links remain.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin
 */
export function unbindRepository(ctx: Context, bindingId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const binding = await ctx
      .db('forge_repositories')
      .where({ binding_id: bindingId })
      .forUpdate()
      .first<BindingRow | undefined>();
    if (!binding) throw notFound('Binding');
    const { team_id, project_id, repo, sync_issues } = binding;
    authorizeBinding(ctx.actor, await seatOf(ctx, team_id));
    await ctx.db('forge_repositories').where({ binding_id: bindingId }).delete();
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
