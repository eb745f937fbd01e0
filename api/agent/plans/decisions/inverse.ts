import { getAction, type Tool } from '../../../gate/work-actions/catalogue.js';
import type { ProposedAction } from '../proposal.js';
import { parseReference } from '../../../gate/staging/references.js';
import type { PlanAction } from '../schema.js';

/** An applied action, with the id of what it created. */
export interface AppliedAction extends PlanAction {
  made_id: string | null;
}

/**
 * Returns what takes an applied action back; null if nothing does, or if taking back another action of the plan does it already: what changed a
 * task that the plan has created goes with the task.
 */
export function buildInverse(action: AppliedAction): ProposedAction | null {
  if (!action.reversible || parseReference(action.entity_id) !== undefined) return null;
  const inverse = getAction(action.tool).undo?.(action) ?? null;
  return inverse && { ...inverse, tool: inverse.tool as Tool };
}
