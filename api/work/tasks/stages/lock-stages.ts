import { Stage as StageRow } from '../../../../db/models/stage.js';
import { Team } from '../../../../db/models/team.js';
import { authorize } from '../../../platform/access/access.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import type { Context } from '../../../platform/context.js';
import { conflict, invalidFields, notFound } from '../../../platform/errors.js';
import { isStatusName, type Stage } from './places.js';

/**
 * Locks the stages of a team against other changes of them, and returns them. Writers of tasks do not wait for that.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager
 */
export async function lockStages(ctx: Context, teamId: string): Promise<Stage[]> {
  authorize('stage.manage', await seatInTeam(ctx, teamId));
  if (!(await Team.query(ctx.db).findById(teamId).modify('live').forNoKeyUpdate())) throw notFound('Team');
  return StageRow.query(ctx.db).where({ team_id: teamId });
}

/**
 * Returns a stage with all stages of its team, locked as by `lockStages`.
 * @throws RESOURCE_NOT_FOUND no such stage | PERMISSION_DENIED below manager, or not a member
 */
export async function lockStage(ctx: Context, stageId: string): Promise<{ stage: Stage; stages: Stage[] }> {
  const known = await StageRow.query(ctx.db).findById(stageId);
  if (!known) throw notFound('Stage');
  const stages = await lockStages(ctx, known.team_id);
  const stage = stages.find(({ stage_id }) => stage_id === stageId);
  if (!stage) throw notFound('Stage');
  return { stage, stages };
}

/** @throws RESOURCE_CONFLICT another stage has the name | VALIDATION_ERROR it is that of a status */
export function checkName(stages: readonly Stage[], name: string, stageId?: string): void {
  if (isStatusName(name)) {
    throw invalidFields([{ field: 'body.name', message: 'must not be the name of a status', type: 'custom' }]);
  }
  const taken = stages.some((one) => one.stage_id !== stageId && one.name.toLowerCase() === name.toLowerCase());
  if (taken) throw conflict(`The team already has a stage with the name ${name}`);
}

const SUMMARIES = { create: 'created the stage', update: 'updated the stage', delete: 'deleted the stage' };

/** Writes the audit entry and the activity line of a change of a stage. */
export async function recordStageChange(
  ctx: Context,
  { team_id, stage_id, name, status }: Stage,
  action: keyof typeof SUMMARIES,
  details: Record<string, unknown>,
): Promise<void> {
  await recordChange(ctx, {
    team_id,
    feature: 'tasks',
    action,
    severity: 'MEDIUM',
    entity_type: 'stage',
    entity_id: stage_id,
    title: name,
    summary: SUMMARIES[action],
    details: { name, status, ...details },
  });
}
