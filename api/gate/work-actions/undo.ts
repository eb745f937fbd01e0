import type { WorkAction } from './action.js';

type Undo = NonNullable<WorkAction['undo']>;

/** Sets the fields of the target as they were. */
export const restoreFields =
  (tool: string): Undo =>
  ({ entity_id, before }) =>
    before === null || entity_id === null ? null : { tool, entity_id, params: before };

/** Removes what the action created. */
export const removeMade =
  (tool: string): Undo =>
  ({ made_id }) =>
    made_id === null ? null : { tool, entity_id: made_id, params: {} };

/** Does the opposite to the same target. */
export const reverse =
  (tool: string): Undo =>
  ({ entity_id }) =>
    entity_id === null ? null : { tool, entity_id, params: {} };
