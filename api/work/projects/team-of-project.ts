import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';

/**
 * Returns the team of a live project and locks the project against deletion until the commit.
 * @throws RESOURCE_NOT_FOUND
 */
export async function teamOfProject(ctx: Context, projectId: string): Promise<string> {
  const project = await ctx
    .db('projects')
    .where({ project_id: projectId })
    .whereNull('deleted_at')
    .forKeyShare()
    .first<{ team_id: string } | undefined>('team_id');
  if (!project) throw notFound('Project');
  return project.team_id;
}
