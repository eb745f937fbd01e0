import { Project } from '../../../../db/models/project.js';
import { ProjectUpdate } from '../../../../db/models/project-update.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { presentUpdate } from './present.js';
import type { ListProjectUpdates, ProjectUpdateRecord } from './schema.js';

/**
 * Lists the updates of a live project, newest first.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member
 */
export async function listUpdates(
  ctx: Context,
  projectId: string,
  { limit, before }: ListProjectUpdates,
): Promise<ProjectUpdateRecord[]> {
  const project = await Project.query(ctx.db).findById(projectId).modify('live').select('project_id', 'team_id');
  if (!project) throw notFound('Project');
  authorize('project.read', await findSeat(ctx, project.team_id));
  const rows = await ProjectUpdate.query(ctx.db)
    .where({ project_id: project.project_id })
    .modify((query) => {
      if (before !== undefined) void query.where('update_id', '<', before);
    })
    .orderBy('update_id', 'desc')
    .limit(limit);
  return rows.map(presentUpdate);
}
