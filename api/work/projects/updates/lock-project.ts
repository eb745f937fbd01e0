import { Project } from '../../../../db/models/project.js';
import { ProjectUpdate } from '../../../../db/models/project-update.js';
import type { Seat } from '../../../platform/access/access.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';

/**
 * Locks a live project, so that its updates are written one after the other: the newest one says its health. The role is read first, so a stranger
 * locks nothing.
 * @throws RESOURCE_NOT_FOUND no live project | PERMISSION_DENIED not a member, or a guest
 */
export async function lockProject(ctx: Context, projectId: string): Promise<{ project: Project; seat: Seat | null }> {
  const known = await Project.query(ctx.db).findById(projectId).modify('live').select('team_id');
  if (!known) throw notFound('Project');
  const seat = await findSeat(ctx, known.team_id);
  authorize('project_update.write', seat);
  const project = await Project.query(ctx.db).findById(projectId).modify('live').forNoKeyUpdate();
  if (!project) throw notFound('Project');
  return { project, seat };
}

/**
 * Returns an update of a live project for a change; both are locked, the project first.
 * @throws RESOURCE_NOT_FOUND unknown, or its project is in the trash | PERMISSION_DENIED not a member, or a guest
 */
export async function lockUpdate(
  ctx: Context,
  updateId: string,
): Promise<{ update: ProjectUpdate; project: Project; seat: Seat | null }> {
  const found = await ProjectUpdate.query(ctx.db).findById(updateId).select('project_id');
  const place = found && (await Project.query(ctx.db).findById(found.project_id).modify('live').select('project_id'));
  if (!place) throw notFound('Update');
  const { project, seat } = await lockProject(ctx, place.project_id);
  const update = await ProjectUpdate.query(ctx.db).findById(updateId).forUpdate();
  if (!update) throw notFound('Update');
  return { update, project, seat };
}
