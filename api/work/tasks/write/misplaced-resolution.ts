import { invalidFields } from '../../../platform/errors.js';

/** For a resolution that is given for a task which is not done, or not to be. */
export const misplacedResolution = () =>
  invalidFields([{ field: 'body.resolution', message: 'only a task with the status done has a resolution', type: 'custom' }]);

const STAGE_MESSAGE = 'must be a stage of the task’s team, with the status of the task and without a resolution';
/** For a stage that is gone, or of another team, or of another status than the one given with it, or given with a resolution: the caller learns nothing of other teams. */
export const misplacedStage = () => invalidFields([{ field: 'body.stage_id', message: STAGE_MESSAGE, type: 'custom' }]);
