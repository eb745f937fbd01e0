import { toggleAutomation } from '../../automation/definitions/toggle-automation.js';
import { authorize } from '../../platform/access/access.js';
import { findSeat } from '../../platform/access/seats.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { Team } from '../../../db/models/team.js';
import { updateTask } from '../../work/tasks/write/update-task.js';
import { WRITING } from './content.js';
import { findExample } from './create-example.js';

/** What a user does with an example, by name; each takes the id of its project. */
const MOVES = {
  enable: (ctx: Context, projectId: string) => toggleAutomation(ctx, projectId, { is_active: true }),
  finish: (ctx: Context, projectId: string) => updateTask(ctx, `${projectId}${WRITING}`, { status: 'done' }),
  reopen: (ctx: Context, projectId: string) => updateTask(ctx, `${projectId}${WRITING}`, { status: 'in_progress' }),
};
export type Move = keyof typeof MOVES;
export const MOVE_NAMES = Object.keys(MOVES) as [Move, ...Move[]];

/**
 * Takes a step of a team's example: enables its automation, or finishes or reopens the task that starts it.
 * @throws RESOURCE_NOT_FOUND no such team, no example, or this part of it was deleted | PERMISSION_DENIED not a member, a guest, or the automation is
 * another user's and the caller no manager
 */
export async function playExample(ctx: Context, teamId: string, move: Move): Promise<void> {
  authorize('project.write', await findSeat(ctx, teamId));
  const team = await Team.query(ctx.db).findById(teamId).modify('live');
  const projectId = team && (await findExample(ctx, team));
  if (!projectId) throw notFound('Example');
  await MOVES[move](ctx, projectId);
}
