import { Team } from '../../../db/models/team.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { teamOfProject } from '../../work/projects/team-of-project.js';

/** Scope of an automation: a team, one of its projects, or one user (both null). */
interface AutomationScope {
  team_id: string | null;
  project_id: string | null;
}

/**
 * Resolves the scope of a new automation; a project alone determines the team.
 * @throws RESOURCE_NOT_FOUND unknown team or project | PERMISSION_DENIED non-member or guest | INVALID_REQUEST project of another
 * team
 */
export async function resolveScope(ctx: Context, { team_id, project_id }: AutomationScope): Promise<AutomationScope> {
  if (team_id !== null && !(await Team.query(ctx.db).findById(team_id).modify('live'))) throw notFound('Team');
  const projectTeam = project_id === null ? null : await teamOfProject(ctx, project_id);
  for (const team of new Set([team_id, projectTeam])) if (team !== null) authorize('automation.write', await findSeat(ctx, team));
  if (team_id !== null && projectTeam !== null && team_id !== projectTeam)
    throw invalid('project_id must be a project of the automation’s team');
  return { team_id: team_id ?? projectTeam, project_id };
}
