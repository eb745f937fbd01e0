import { ProjectUpdate } from '../../../../db/models/project-update.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { newId } from '../../../platform/ids.js';
import { lockProject } from './lock-project.js';
import { presentUpdate } from './present.js';
import { recordUpdate, refreshHealth } from './record-update.js';
import type { PostProjectUpdate, ProjectUpdateRecord } from './schema.js';

/**
 * Posts an update of a live project. Its health is that of the project from then on. `update_id` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest
 */
export function postUpdate(
  ctx: Context,
  projectId: string,
  { health, content }: PostProjectUpdate,
  update_id = newId(),
): Promise<ProjectUpdateRecord> {
  return inTransaction(ctx, async (ctx) => {
    const { project } = await lockProject(ctx, projectId);
    const { team_id, project_id } = project;
    const row = await ProjectUpdate.query(ctx.db)
      .insert({ update_id, project_id, team_id, health, content, author_id: requireUser(ctx) })
      .returning('*');
    const update = presentUpdate(row);
    const json = await refreshHealth(ctx, project_id);
    await recordUpdate(ctx, project, update.update_id, {
      action: 'create',
      summary: 'posted an update of the project',
      details: { health },
      event: { type: 'project_update.created', payload: { update, project: json } },
    });
    return update;
  });
}
