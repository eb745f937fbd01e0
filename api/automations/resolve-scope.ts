import { authorize } from '../core/access.js';
import type { Context } from '../core/context.js';
import { invalid, notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';

/** Where an automation lives: in a team, in one project of it, or with one person (both null). */
interface AutomationScope {
  team_id: string | null;
  project_id: string | null;
}

/**
 * The team of a live project, held until the commit so that it cannot go to the trash meanwhile.
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

/**
 * The place that a new automation asks for: a project alone sets the team (F1).
 * @throws RESOURCE_NOT_FOUND unknown team or project | PERMISSION_DENIED stranger or guest | INVALID_REQUEST project of another team
 */
export async function resolveScope(ctx: Context, { team_id, project_id }: AutomationScope): Promise<AutomationScope> {
  if (team_id !== null && !(await ctx.db('teams').where({ team_id }).whereNull('deleted_at').first<object | undefined>())) {
    throw notFound('Team');
  }
  const projectTeam = project_id === null ? null : await teamOfProject(ctx, project_id);
  for (const team of new Set([team_id, projectTeam])) if (team !== null) authorize('automation.write', await seatOf(ctx, team));
  if (team_id !== null && projectTeam !== null && team_id !== projectTeam)
    throw invalid('project_id names a project of another team');
  return { team_id: team_id ?? projectTeam, project_id };
}
