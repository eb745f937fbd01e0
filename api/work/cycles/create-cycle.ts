import { Cycle as CycleRow } from '../../../db/models/cycle.js';
import { Project } from '../../../db/models/project.js';
import { Team } from '../../../db/models/team.js';
import { authorize, checkCallerKind } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam, findSeat } from '../../platform/access/seats.js';
import { checkDates, toDays } from './cycle-dates.js';
import { findRecord } from './read-cycle.js';
import { recordCycleChange } from './record-cycle-change.js';
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
  const auto_complete = input.auto_complete ?? false;
  checkDates({ start_date, end_date, auto_complete });
  if (auto_complete) checkCallerKind('cycle.schedule', ctx.actor);
  const project_id = input.project_id ?? null;
  const { name } = input;
  // Before any lock: strangers make nobody wait.
  const team_id = await resolveTeam(ctx, input);
  return inTransaction(ctx, async (ctx) => {
    // Creations in a team happen one after the other, so their numbers follow each other.
    const team = await Team.query(ctx.db).findById(team_id).modify('live').forNoKeyUpdate();
    if (!team) throw notFound('Team');
    // A deletion of the project waits for this lock.
    if (project_id && !(await Project.query(ctx.db).findById(project_id).modify('live').forKeyShare())) throw notFound('Project');
    authorize('cycle.write', await findSeat(ctx, team_id));
    const last = await CycleRow.query(ctx.db).where({ team_id, project_id }).orderBy('number', 'desc').first();
    await CycleRow.query(ctx.db).insert({
      cycle_id,
      team_id,
      project_id,
      number: (last?.number ?? 0) + 1,
      name,
      goal: input.goal || null,
      start_date,
      end_date,
      auto_complete,
      created_by: requireUser(ctx),
      cause_user_ids: [requireUser(ctx)],
      correlation_id: ctx.correlationId,
    });
    await recordCycleChange(ctx, { cycle_id, team_id, project_id, name }, 'create', {
      summary: 'planned the cycle',
      details: { name, start_date, end_date, auto_complete },
    });
    return findRecord(ctx, cycle_id);
  });
}
