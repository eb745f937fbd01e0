import { invalidFields } from '../../../platform/errors.js';

/** For a resolution that is given for a task which is not done, or not to be. */
export const misplacedResolution = () =>
  invalidFields([{ field: 'body.resolution', message: 'only a task with the status done has a resolution', type: 'custom' }]);
