import { fn } from 'objection';
import type { ProjectUpdate } from '../../../../db/models/project-update.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { lockUpdate } from './lock-project.js';
import { presentUpdate } from './present.js';
import { recordUpdate, refreshHealth } from './record-update.js';
import type { EditProjectUpdate, ProjectUpdateRecord } from './schema.js';

/**
 * Changes text and health of the caller's own update; the same ones change nothing.
 * @throws RESOURCE_NOT_FOUND unknown, or its project is in the trash | PERMISSION_DENIED not a member, a guest, or not the author
 */
export function editUpdate(ctx: Context, updateId: string, patch: EditProjectUpdate): Promise<ProjectUpdateRecord> {
  return inTransaction(ctx, async (ctx) => {
    const { update, project } = await lockUpdate(ctx, updateId);
    if (update.author_id !== requireUser(ctx)) throw forbidden('Only the author can edit an update');
    const { health: was } = update;
    const { health = was, content = update.content } = patch;
    if (health === was && content === update.content) return presentUpdate(update);
    const edited = await update.$query(ctx.db).patch({ health, content, edited: true, updated_at: fn.now() }).returning('*');
    await refreshHealth(ctx, project.project_id);
    await recordUpdate(ctx, project, updateId, {
      action: 'update',
      summary: 'edited an update of the project',
      details: { ...(health !== was && { health: { from: was, to: health } }) },
    });
    return presentUpdate(edited as unknown as ProjectUpdate);
  });
}
