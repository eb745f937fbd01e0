import { Project } from '../../../db/models/project.js';
import { Team } from '../../../db/models/team.js';
import { createAutomation } from '../../automation/definitions/create-automation.js';
import { authorize } from '../../platform/access/access.js';
import { findSeat } from '../../platform/access/seats.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { createProject } from '../../work/projects/create-project.js';
import { createTasksInBulk } from '../../work/tasks/write/create-tasks-in-bulk.js';
import { exampleAutomation, exampleTasks, PROJECT } from './content.js';

export interface CreatedExample {
  project_id: string;
  /** False: the team had its example already. */
  created: boolean;
}

/** Locks a live team, so that it is filled once. @throws RESOURCE_NOT_FOUND */
export async function lockTeamOfExample(ctx: Context, teamId: string): Promise<Team> {
  const team = await Team.query(ctx.db).findById(teamId).modify('live').forNoKeyUpdate();
  if (!team) throw notFound('Team');
  return team;
}

/** Returns the id of the team's example project; null if it has none, or it is in the trash. */
export async function findExample(ctx: Context, { example_project_id }: Team): Promise<string | null> {
  if (example_project_id === null) return null;
  const project = await Project.query(ctx.db).findById(example_project_id).modify('live');
  return project?.project_id ?? null;
}

/** Notes on a team which project is its example, null for none, with the traces of it. `projectId`: the project that it is or was. */
export async function setExample(
  ctx: Context,
  team: Team,
  projectId: string,
  { example_project_id, summary }: { example_project_id: string | null; summary: string },
): Promise<void> {
  await team.$query(ctx.db).patch({ example_project_id });
  await recordChange(ctx, {
    team_id: team.team_id,
    project_id: projectId,
    feature: 'teams',
    action: 'update',
    entity_type: 'team',
    entity_id: team.team_id,
    title: team.name,
    summary,
    details: { example_project_id },
  });
}

/**
 * Fills a team with an example: a project, five tasks, and an automation that is disabled, in one transaction. A team has one at most: the second
 * call returns the first one's. After it was moved to the trash another is created.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED not a member, or a guest | INVALID_REQUEST too many automations
 */
export function createExample(ctx: Context, teamId: string): Promise<CreatedExample> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeamOfExample(ctx, teamId);
    const seat = await findSeat(ctx, teamId);
    authorize('project.write', seat);
    authorize('automation.write', seat);
    const present = await findExample(ctx, team);
    if (present) return { project_id: present, created: false };
    const project_id = newId();
    await createProject(
      ctx,
      { team_id: teamId, name: PROJECT, description: 'Yours to try. First steps, in the palette (Ctrl K), remove it.' },
      project_id,
    );
    await createTasksInBulk(ctx, exampleTasks(project_id, requireUser(ctx)), true);
    await createAutomation(ctx, exampleAutomation(project_id), project_id);
    await setExample(ctx, team, project_id, {
      example_project_id: project_id,
      summary: 'filled the team with an example project',
    });
    return { project_id, created: true };
  });
}
