import { Project } from '../../../db/models/project.js';
import { authorize, checkCallerKind } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { checkDates, toDays } from './cycle-dates.js';
import { lockTeam, planCycle } from './plan-cycle.js';
import { findRecord } from './read-cycle.js';
import type { CreateCycle, Cycle } from './schema.js';

/** Returns the team of a new cycle. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED | INVALID_REQUEST a project of another team */
async function resolveTeam(ctx: Context, { team_id, project_id }: CreateCycle): Promise<string> {
  if (team_id) authorize('cycle.write', await seatInTeam(ctx, team_id));
  if (!project_id) return team_id as string;
  const project = await Project.query(ctx.db).findById(project_id).modify('live');
  if (!project) throw notFound('Project');
  authorize('cycle.write', await findSeat(ctx, project.team_id));
  if (team_id && team_id !== project.team_id) throw invalid('project_id must be a project of the team');
  return project.team_id;
}

/**
 * Plans a cycle of a team, or of one of its projects. `cycle_id` is chosen by imports only.
 * @throws RESOURCE_NOT_FOUND no such team or project | PERMISSION_DENIED not a member, or a guest | INVALID_REQUEST dates, or a project of
 * another team
 */
export async function createCycle(ctx: Context, input: CreateCycle, cycle_id = newId()): Promise<Cycle> {
  const { start_date = null, end_date = null } = toDays(input);
  const schedule = { start_date, end_date, auto_complete: input.auto_complete ?? false, repeats: input.repeats ?? false };
  checkDates(schedule);
  if (schedule.auto_complete) checkCallerKind('cycle.schedule', ctx.actor);
  const project_id = input.project_id ?? null;
  const { name } = input;
  // Before any lock: strangers make nobody wait.
  const team_id = await resolveTeam(ctx, input);
  return inTransaction(ctx, async (ctx) => {
    if (!(await lockTeam(ctx, team_id))) throw notFound('Team');
    // A deletion of the project waits for this lock.
    if (project_id && !(await Project.query(ctx.db).findById(project_id).modify('live').forKeyShare())) throw notFound('Project');
    authorize('cycle.write', await findSeat(ctx, team_id));
    const created_by = requireUser(ctx);
    const goal = input.goal || null;
    const place = { cycle_id, team_id, project_id };
    await planCycle(ctx, { ...place, name, goal, ...schedule, created_by, cause_user_ids: [created_by] });
    return findRecord(ctx, cycle_id);
  });
}
