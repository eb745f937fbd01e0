import { Automation } from '../../../db/models/automation/automation.js';
import { deleteAutomation } from '../../automation/definitions/delete-automation.js';
import { authorize } from '../../platform/access/access.js';
import { findSeat } from '../../platform/access/seats.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { trashProject } from '../../work/projects/trash-project.js';
import { findExample, lockTeamOfExample, setExample } from './create-example.js';

/**
 * Removes the example of a team in one transaction: its project goes to the trash with all that is in it, its automation is deleted, and runs that
 * wait are cancelled.
 * @throws RESOURCE_NOT_FOUND no such team, or it has no example | PERMISSION_DENIED not a member, a guest, or the automation is another user's and
 * the caller no manager
 */
export function removeExample(ctx: Context, teamId: string): Promise<{ project_id: string }> {
  return inTransaction(ctx, async (ctx) => {
    const team = await lockTeamOfExample(ctx, teamId);
    authorize('project.write', await findSeat(ctx, teamId));
    const project_id = await findExample(ctx, team);
    if (!project_id) throw notFound('Example');
    // Its automation has the id of the project. A user may have deleted it before.
    const automation = await Automation.query(ctx.db).findById(project_id).modify('live');
    if (automation) await deleteAutomation(ctx, project_id);
    await trashProject(ctx, project_id);
    await setExample(ctx, team, project_id, { example_project_id: null, summary: 'removed the example project' });
    return { project_id };
  });
}
