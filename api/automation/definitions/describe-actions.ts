import type { StoredAction } from '../../../db/models/automation/automation.js';
import { idsIn, type Presented, presentActions } from '../../gate/staging/present.js';
import type { ActionLine } from '../../gate/staging/schema.js';
import type { Context } from '../../platform/context.js';
import { availableActions, isSent } from '../actions/registry.js';
import { getWorkAction } from '../actions/work-actions.js';
import { namesAt } from '../runs/names-at.js';

/** An action of a definition, before any event fills it in. */
function toPresented({ type, name, params }: StoredAction, index: number): Presented {
  const description = availableActions().find((each) => each.type === type);
  return {
    index,
    type,
    name: name ?? null,
    ...(description && { label: description.label }),
    tool: null,
    entity_type: getWorkAction(type)?.entity ?? null,
    entity_id: null,
    title: null,
    params,
    before: null,
    after: null,
    risk: description?.risk ?? (isSent(type) ? 'medium' : 'low'),
    reversible: false,
  };
}

/**
 * Returns the actions of an automation in words, as they are written: templates stay templates. Ids have the names that the team may read, or
 * the creator of a personal automation. The caller may read the automation.
 */
export async function describeActions(
  ctx: Pick<Context, 'db'>,
  { team_id, created_by }: { team_id: string | null; created_by: string },
  actions: readonly StoredAction[],
): Promise<ActionLine[]> {
  const presented = actions.map(toPresented);
  const { item: items, user: users } = idsIn(presented);
  const [names = {}] = await namesAt(ctx, [{ place: team_id ?? created_by, items, users }]);
  return presentActions(presented, names);
}
