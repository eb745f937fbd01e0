import { Project } from '../../db/models/project.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { eraseProject } from './erase.js';

/**
 * Removes a project in the trash for good, with all its tasks. Whoever restores it at this moment comes first, or finds nothing.
 * Returns the number of items.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED below manager
 * Source: decision C8.
 */
export function purgeProject(ctx: Context, projectId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const project = await Project.query(ctx.db).findById(projectId).forUpdate();
    if (!project) throw notFound('Project in the trash');
    authorize('trash.purge', await seatOf(ctx, project.team_id));
    if (project.deleted_at === null) throw notFound('Project in the trash');
    return eraseProject(ctx, project, 'purged');
  });
}
