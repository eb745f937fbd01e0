import { Stage as StageRow } from '../../../../db/models/stage.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { checkName, lockStage, recordStageChange } from './lock-stages.js';
import { displaced, positionBeyond, type Stage } from './places.js';
import type { UpdateStage } from './schema.js';

/** Stores new positions of stages of one team, which is locked. */
export async function movePositions(ctx: Context, stages: readonly Stage[]): Promise<void> {
  for (const { stage_id, position } of stages) await StageRow.query(ctx.db).findById(stage_id).patch({ position });
}

async function write(ctx: Context, stages: readonly Stage[], stage: Stage, after: Stage): Promise<Stage> {
  const { name, position } = after;
  if (name === stage.name && position === stage.position) return stage;
  if (position !== stage.position) await movePositions(ctx, displaced(stages, stage, position));
  await StageRow.query(ctx.db).findById(stage.stage_id).patch({ name, position });
  await recordStageChange(ctx, after, 'update', { position, ...(name !== stage.name && { before: stage.name }) });
  return after;
}

/**
 * Renames a stage, or gives it another place; what stands there moves on. Its tasks stay as they are.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager | RESOURCE_CONFLICT the name is taken | INVALID_REQUEST another status |
 * VALIDATION_ERROR the name is that of a status
 */
export function updateStage(ctx: Context, stageId: string, { name, position, status }: UpdateStage): Promise<Stage> {
  return inTransaction(ctx, async (ctx) => {
    const { stage, stages } = await lockStage(ctx, stageId);
    if (status !== undefined && status !== stage.status) {
      throw invalid('status cannot change', { detail: 'Create another stage, and move the tasks there.' });
    }
    if (name !== undefined) checkName(stages, name, stageId);
    return write(ctx, stages, stage, { ...stage, name: name ?? stage.name, position: position ?? stage.position });
  });
}

/** Moves a stage past the one before or behind it; at the end of its status it stays. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below manager */
export function shiftStage(ctx: Context, stageId: string, step: -1 | 1): Promise<Stage> {
  return inTransaction(ctx, async (ctx) => {
    const { stage, stages } = await lockStage(ctx, stageId);
    return write(ctx, stages, stage, { ...stage, position: positionBeyond(stages, stage, step) ?? stage.position });
  });
}
