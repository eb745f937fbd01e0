import type { Context } from '../../platform/context.js';
import { changeProject } from './change-project.js';
import { wholeProject } from './project-fields.js';
import type { ProjectWrite, ReplaceProject } from './schema.js';

/**
 * Replaces the whole project: missing fields are reset to their defaults.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest | INVALID_REQUEST dates, or another team
 */
export async function replaceProject(
  ctx: Context,
  projectId: string,
  { team_id, ...whole }: ReplaceProject,
): Promise<ProjectWrite> {
  const after = wholeProject(whole);
  return changeProject(ctx, projectId, { teamId: team_id }, () => after);
}
