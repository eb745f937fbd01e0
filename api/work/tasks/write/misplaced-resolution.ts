import { invalidFields } from '../../../platform/errors.js';
import { type StagedFields, wordStageMisfit } from '../stages/stage-misfit.js';

/** For a resolution that is given for a task which is not done, or not to be. */
export const misplacedResolution = () =>
  invalidFields([{ field: 'body.resolution', message: 'only a task with the status done has a resolution', type: 'custom' }]);

/** What statements return of a stage that does not fit: the stage, if the team of the task has it, and what was given with it. */
export interface MisplacedStage extends StagedFields {
  stage: { name: string; status: string } | null;
}

/** SQL: the same, of a row with `stage_ok` and the name and the status of the stage, and what is given beside it. Null for a stage that fits. */
export const misplacedStageSql = (
  status: string,
  resolution: string,
): string => /* sql */ `case when v.stage_ok is not true then jsonb_build_object(
    'stage', case when v.stage_name is not null then jsonb_build_object('name', v.stage_name, 'status', v.stage_status) end,
    'status', ${status}, 'resolution', ${resolution}) end as misplaced`;

/** For a stage that is gone or of another team, of which the caller learns nothing; or of another status than the one given with it, or given with a resolution. */
export const misplacedStage = ({ stage, ...given }: MisplacedStage) => {
  const message = (stage && wordStageMisfit(stage, given)) ?? 'The team of the task has no such stage';
  return invalidFields([{ field: 'body.stage_id', message, type: 'custom' }]);
};
