import { Stage as StageRow } from '../../../../db/models/stage.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { checkName, lockStages, recordStageChange } from './lock-stages.js';
import { displaced, freePosition, MAX_STAGES, type Stage } from './places.js';
import type { CreateStage } from './schema.js';
import { movePositions } from './update-stage.js';

/**
 * Defines a stage of a team. The team's row is locked, so names are unique and the limit holds.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT the name is taken | INVALID_REQUEST the team has 20
 * stages | VALIDATION_ERROR the name is that of a status
 */
export function createStage(ctx: Context, { team_id, name, status, position }: CreateStage): Promise<Stage> {
  return inTransaction(ctx, async (ctx) => {
    const stages = await lockStages(ctx, team_id);
    checkName(stages, name);
    if (stages.length >= MAX_STAGES) throw invalid(`A team has at most ${MAX_STAGES} stages; delete one first`);
    const stage: Stage = { stage_id: newId(), team_id, name, status, position: position ?? freePosition(stages, status) };
    await movePositions(ctx, displaced(stages, stage, stage.position));
    await StageRow.query(ctx.db).insert(stage);
    await recordStageChange(ctx, stage, 'create', { position: stage.position });
    return stage;
  });
}
