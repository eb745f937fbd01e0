import type { StoredAction } from '../../../db/models/automation/automation.js';
import { findStageNamed } from '../../gate/work-actions/own-names.js';
import type { Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { TaskStatus } from '../../work/tasks/columns.js';
import { findStages } from '../../work/tasks/stages/find-stages.js';
import type { Stage } from '../../work/tasks/stages/places.js';
import { wordStageMisfit } from '../../work/tasks/stages/stage-misfit.js';

interface StagedAction {
  place: string;
  params: StoredAction['params'];
  /** Undefined if the team has none of this id or name now. */
  stage: Stage | undefined;
  given: string;
}

/** Finds the stages that actions set, without those that only a run knows; none of a personal automation, which has no team. */
async function findStaged(ctx: Context, teamId: string | null, actions: readonly StoredAction[]): Promise<StagedAction[]> {
  const staged = actions.flatMap(({ params }, index) => {
    const given = params['stage_id'];
    return typeof given === 'string' && !given.includes('{{')
      ? [{ place: `actions[${index}].params.stage_id`, params, given }]
      : [];
  });
  if (teamId === null || staged.length === 0) return [];
  const stages = await findStages(ctx, [teamId]);
  return staged.map((each) => ({ ...each, stage: findStageNamed(stages, each.given) }));
}

/**
 * Refuses a stage beside a status or a resolution that contradicts it, which a run could only fail by. The stages of now decide.
 * @throws INVALID_REQUEST naming the action by its index
 */
export async function checkStages(ctx: Context, teamId: string | null, actions: readonly StoredAction[]): Promise<void> {
  for (const { place, params, stage } of await findStaged(ctx, teamId, actions)) {
    // A template of a status is unknown yet.
    const { data: status } = TaskStatus.safeParse(params['status']);
    const misfit = stage && wordStageMisfit(stage, { status, resolution: params['resolution'] });
    if (misfit) throw invalid(`${place}: ${misfit}`);
  }
}

/** Warns of stages that the team does not have yet. */
export const warnOfStages = async (ctx: Context, teamId: string | null, actions: readonly StoredAction[]): Promise<string[]> =>
  (await findStaged(ctx, teamId, actions)).flatMap(({ place, stage, given }) =>
    stage ? [] : [`${place}: the team has no stage “${given.slice(0, 60).toWellFormed()}” yet`],
  );
