import { Project } from '../../../db/models/project.js';
import { Team } from '../../../db/models/team.js';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { checkLead } from './check-lead.js';
import { checkOrder, wholeProject } from './project-fields.js';
import type { CreateProject, ProjectWrite } from './schema.js';
import { rereadProject, verifiedWrite } from './verify-written.js';
import { newId } from '../../platform/ids.js';

const insertKeyStatement = defineStatement({
  name: 'insert_project_key',
  text: `insert into item_keys (item_id, item_type) values ($1, 'project')`,
});

/**
 * Creates a project in one of the caller's teams. `project_id` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED not a member, or a guest | INVALID_REQUEST malformed dates, an end before
 * the start, or a lead outside of the team
 */
export async function createProject(
  ctx: Context,
  { team_id, ...input }: CreateProject,
  project_id = newId(),
): Promise<ProjectWrite> {
  const fields = wholeProject(input);
  checkOrder(fields);
  return inTransaction(ctx, async (ctx) => {
    const team = await Team.query(ctx.db).findById(team_id).modify('live').forKeyShare();
    if (!team) throw notFound('Team');
    authorize('project.write', await findSeat(ctx, team_id));
    await checkLead(ctx, team_id, fields.lead_id);
    await run(ctx.db, insertKeyStatement, [project_id]);
    await Project.query(ctx.db).insert({ project_id, team_id, created_by: requireUser(ctx), ...fields });
    const project = await rereadProject(ctx, project_id, fields);
    const auditId = await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'projects',
      action: 'create',
      entity_type: 'project',
      entity_id: project_id,
      title: fields.name,
      summary: 'created the project',
      details: { name: fields.name },
      event: { type: 'project.created', payload: { project, changes: {} } },
    });
    return verifiedWrite('create', auditId, project);
  });
}
