import { z } from 'zod';
import { TaskId } from '../../platform/fields.js';
import { derivedEdge } from '../../work/relations/rules.js';
import type { ActionType, Effect } from '../../gate/contract/action-type.js';
import { DateText } from './fields.js';
import type { Fields, Performed, WorkAction } from '../../gate/work-actions/action.js';
import { WORK_ACTIONS } from '../../gate/work-actions/catalogue.js';

/** Parameters that name the target, where there is one. */
const TARGET = 'task_id';

/** Returns the parameters as an automation gives them: one more for the target, and dates checked when the automation is saved. */
function buildParams({ schema, kind, automation }: WorkAction): ActionType['params'] {
  const { picks } = automation ?? {};
  const given = Object.entries(schema.shape).filter(([name]) => picks?.includes(name) ?? true);
  return z.object({
    ...Object.fromEntries(given),
    ...('due_date' in schema.shape && { due_date: DateText.nullish() }),
    ...(kind !== 'create' && { [TARGET]: TaskId }),
  });
}

const OF_AUTOMATIONS = (WORK_ACTIONS as readonly WorkAction[]).filter(({ automation }) => automation !== undefined);

/** Returns the action of the catalogue that an automation calls `type`; undefined for any other action. */
export const getWorkAction = (type: string): (typeof WORK_ACTIONS)[number] | undefined =>
  OF_AUTOMATIONS.find(({ automation }) => automation?.type === type) as (typeof WORK_ACTIONS)[number] | undefined;

/** Returns the target and the operation's parameters of an action as an automation gives them. */
export function resolveTarget(
  { kind, automation }: WorkAction,
  given: Fields,
  run: { team_id: string | null },
): { entityId: string | null; params: Record<string, unknown> } {
  const { [TARGET]: id, ...fields } = given;
  return {
    entityId: kind === 'create' ? null : String(id),
    params: { ...(automation?.complete?.(fields, run) ?? fields) },
  };
}

/** Returns what a run records. An edge that follows from a task's fields has no row: the effect is the task's. */
function buildEffect(id: string, { made, output = {} }: Performed): Effect {
  const derived = made && derivedEdge(made.entity_id);
  if (derived) return { entity_type: 'task', entity_id: derived.taskId, output };
  if (!made) return { entity_type: 'task', entity_id: id, output };
  if (made.entity_type === 'project') throw new Error('No action of an automation creates a project');
  return { entity_type: made.entity_type, entity_id: made.entity_id, output };
}

/** The actions of the catalogue that automations may contain, as runs perform them. */
export const workActions: readonly ActionType[] = OF_AUTOMATIONS.flatMap((action) => {
  const { automation, perform } = action;
  if (!automation) return [];
  const { type, label, defaulted, clears } = automation;
  return {
    type,
    label,
    category: 'core',
    params: buildParams(action),
    ...(defaulted && { defaulted }),
    ...(clears && { clears }),
    async perform(ctx, given, run) {
      const { entityId, params } = resolveTarget(action, given as Fields, run);
      return buildEffect(entityId ?? '', await perform(ctx, entityId ?? '', params as never));
    },
  } satisfies ActionType;
});
