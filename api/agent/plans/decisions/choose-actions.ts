import { invalid } from '../../../platform/errors.js';
import type { PlanAction } from '../schema.js';

/**
 * Returns the actions of a subset, in the order of the plan; all of them without a subset.
 * @throws INVALID_REQUEST an unknown or repeated index, or an action without one that it needs
 */
export function chooseActions(actions: readonly PlanAction[], indexes: readonly number[] | undefined): PlanAction[] {
  if (indexes === undefined) return [...actions];
  const chosen = new Set(indexes);
  if (chosen.size < indexes.length) throw invalid('action_indexes names an action twice');
  const unknown = indexes.find((index) => actions[index] === undefined);
  if (unknown !== undefined) throw invalid(`There is no action ${unknown} in the plan`);
  for (const { index, needs } of actions) {
    const missing = chosen.has(index) ? needs.find((need) => !chosen.has(need)) : undefined;
    if (missing !== undefined) throw invalid(`action ${index} needs action ${missing}`);
  }
  return actions.filter(({ index }) => chosen.has(index));
}
