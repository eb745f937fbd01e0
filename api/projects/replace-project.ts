import type { Context } from '../core/context.js';
import { changeProject } from './change-project.js';
import { wholeProject } from './project-fields.js';
import type { ProjectWrite, ReplaceProject } from './schema.js';

/**
 * Replaces the whole project: what is left out goes back to its default.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED stranger or guest | INVALID_REQUEST dates, or another team
 * Source: contract, section 4, projects; decision C1.
 */
export async function replaceProject(
  ctx: Context,
  projectId: string,
  { team_id, ...whole }: ReplaceProject,
): Promise<ProjectWrite> {
  const after = wholeProject(whole);
  return changeProject(ctx, projectId, team_id, () => after);
}
