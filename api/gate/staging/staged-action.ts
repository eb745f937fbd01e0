import type { Risk } from '../contract/action-type.js';
import type { EntityType, Fields } from '../work-actions/action.js';
import type { Tool } from '../work-actions/catalogue.js';

/** An action that waits for a yes, as a plan or a gate stores it: what a person is shown, and what is then performed. */
export interface StagedAction {
  index: number;
  /** Its name in the catalogue; null for what is no change of a work item. */
  tool: Tool | null;
  entity_type: EntityType | null;
  /** Id of the target, `"$k"` for what action k creates, or null. */
  entity_id: string | null;
  /** Title of the target, or of what is created; null if the readers may not know it. */
  title: string | null;
  /** Null if they could not be filled in: the action is refused. */
  params: Fields | null;
  /** The fields that change, as they were; null for a creation, or if nothing was tried. */
  before: Fields | null;
  after: Fields | null;
  risk: Risk;
  reversible: boolean;
}
