import { getRule, isAllowed } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { lockUpdate } from './lock-project.js';
import { recordUpdate, refreshHealth } from './record-update.js';

/**
 * Permanently deletes an update. The health of the project is that of the newest one left.
 * @throws RESOURCE_NOT_FOUND unknown, or its project is in the trash | PERMISSION_DENIED not a member, a guest, or neither the author nor
 * a manager
 */
export function deleteUpdate(ctx: Context, updateId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const { update, project, seat } = await lockUpdate(ctx, updateId);
    if (update.author_id !== requireUser(ctx) && !isAllowed('project_update.moderate', seat)) {
      throw forbidden(`Only the author or a ${getRule('project_update.moderate').seat} can delete an update`);
    }
    await update.$query(ctx.db).delete();
    await refreshHealth(ctx, project.project_id);
    const { author_id, health } = update;
    await recordUpdate(ctx, project, updateId, {
      action: 'delete',
      summary: 'deleted an update of the project',
      details: { author_id, health },
    });
  });
}
