import { Project } from '../../../db/models/project.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';

/**
 * Returns the team of a live project and locks the project against deletion until the commit.
 * @throws RESOURCE_NOT_FOUND
 */
export async function teamOfProject(ctx: Context, projectId: string): Promise<string> {
  const project = await Project.query(ctx.db).select('team_id').findById(projectId).modify('live').forKeyShare();
  if (!project) throw notFound('Project');
  return project.team_id;
}
