import { Automation } from '../../../db/models/automation/automation.js';
import { Project } from '../../../db/models/project.js';
import { authorize, isAllowed } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { forbidden, notInTrash } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { eraseProject } from './erase.js';

/**
 * Purging a project deletes its automations, and only admins may delete a protected one.
 * @throws PERMISSION_DENIED
 */
async function checkProtected(ctx: Context, { project_id, team_id }: Project): Promise<void> {
  const automation = await Automation.query(ctx.db).where({ project_id, is_protected: true }).modify('live').first();
  if (automation && !isAllowed('automation.protect', await findSeat(ctx, team_id))) {
    throw forbidden('The project has a protected automation; only team admins can purge it');
  }
}

/**
 * Permanently deletes a project in the trash with all its tasks. A concurrent restore either commits first or finds nothing.
 * Returns the number of items.
 * @throws RESOURCE_NOT_FOUND unknown or live | PERMISSION_DENIED below manager; below admin with a protected automation
 */
export function purgeProject(ctx: Context, projectId: string): Promise<number> {
  return inTransaction(ctx, async (ctx) => {
    const project = await Project.query(ctx.db).findById(projectId).forUpdate();
    if (!project) throw notInTrash('Project');
    authorize('trash.purge', await findSeat(ctx, project.team_id));
    if (project.deleted_at === null) throw notInTrash('Project');
    await checkProtected(ctx, project);
    return eraseProject(ctx, project, 'purged');
  });
}
