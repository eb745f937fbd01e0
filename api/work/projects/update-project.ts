import type { Context } from '../../platform/context.js';
import { changeProject, type ProjectTarget } from './change-project.js';
import { toDays } from './project-fields.js';
import { orNull } from './rules.js';
import type { ProjectWrite, UpdateProject } from './schema.js';

/**
 * Updates the given fields; with `version`, only if the project still has it. `beside` writes what belongs to the project beside its row, as part
 * of the same change.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest | RESOURCE_CONFLICT stale version
 * | INVALID_REQUEST dates, or another team
 */
export async function updateProject(
  ctx: Context,
  projectId: string,
  { team_id, ...patch }: UpdateProject,
  options: Pick<ProjectTarget, 'beside' | 'version'> = {},
): Promise<ProjectWrite> {
  const days = toDays(patch);
  return changeProject(ctx, projectId, { ...options, teamId: team_id }, (before) => ({
    name: patch.name ?? before.name,
    description: patch.description === undefined ? before.description : orNull(patch.description),
    status: patch.status ?? before.status,
    start_date: days.start_date === undefined ? before.start_date : days.start_date,
    end_date: days.end_date === undefined ? before.end_date : days.end_date,
    lead_id: patch.lead_id === undefined ? before.lead_id : patch.lead_id,
  }));
}
