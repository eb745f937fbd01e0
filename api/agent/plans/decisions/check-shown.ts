import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { CUSTOM_FIELDS, customFieldsChanged } from '../../../gate/staging/custom-values.js';
import { deletedFields, named } from '../../../gate/staging/describe-effect.js';
import { countsTree, nestedTask, readBefore } from '../../../gate/staging/read-before.js';
import { readTarget, type Target } from '../../../gate/staging/read-target.js';
import type { PlanAction } from '../schema.js';
import type { WorkAction } from '../../../gate/work-actions/action.js';

type Fields = Readonly<Record<string, unknown>>;

/** An action about to be performed: as the plan shows it, and with the ids that it has now. */
interface Due {
  action: PlanAction;
  spec: WorkAction;
  entityId: string | null;
  params: Record<string, unknown>;
}

type Made = ReadonlyMap<number, string>;

const differs = (message: string) =>
  conflict(message, { detail: 'Nothing was written. Leave the action out, or ask for a new plan.' });

const CHANGED = 'What the action would change is no longer what the plan shows';

/** The fields of a target that the plan shows as they were. */
function shownFields({ tool }: PlanAction, before: Fields, found: Target): Fields {
  const { record } = found;
  if (tool.endsWith('.delete')) return deletedFields(found);
  if (tool === 'relation.create') return { parent_task_id: record['source_id'] };
  return Object.fromEntries(Object.keys(before).map((field) => [field, record[field] ?? null]));
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Number of tasks that the plan says come along. */
const shownTree = ({ after }: PlanAction): unknown => after?.['subtasks_trashed'] ?? after?.['subtasks_moved'] ?? 0;

/** A task takes its subtasks along when it is deleted, and when it really moves. */
const takesTree = ({ tool, after }: PlanAction): boolean =>
  tool === 'task.delete' || (tool === 'task.update' && after !== null && 'project_id' in after);

/**
 * Whether the version of the target does not say that the action does what was shown: subtasks, parents, comments and notes change without
 * it, and an earlier action on the same target may have been left out.
 */
function needsLook(action: PlanAction, all: readonly PlanAction[], chosen: ReadonlySet<number>): boolean {
  const { tool, params, entity_id, expected_version, before } = action;
  if (takesTree(action)) return true;
  if (tool === 'relation.create') return nestedTask(params) !== undefined;
  if (before === null) return false;
  if (expected_version === null) return true;
  return all.some(({ index, entity_id: other }) => index < action.index && other === entity_id && !chosen.has(index));
}

/** Whether the ends of a new relation are tasks of one project, so that one becomes a subtask of the other. */
async function nests(ctx: Context, { source_id, target_id }: Fields): Promise<boolean> {
  const [source, target] = [await readTarget(ctx, 'task', String(source_id)), await readTarget(ctx, 'task', String(target_id))];
  return source !== undefined && source.project_id === target?.project_id;
}

/** Whether the action still finds what the plan shows. What is gone is refused by the operation, with its own words. */
async function isAsShown(
  ctx: Context,
  { action, params, entityId }: Due,
  found: Target | undefined,
  made: Made,
): Promise<boolean> {
  const before = action.before && Object.fromEntries(Object.entries(action.before).filter(([field]) => field !== CUSTOM_FIELDS));
  if (!found) return before === null || entityId !== null;
  if (before === null) return !(await nests(ctx, params));
  return isDeepStrictEqual(throughJson(named(shownFields(action, before, found), made)), before);
}

/**
 * Compares what an action is about to change with what the plan shows, where versions do not. `made`: ids of what the actions before it have
 * created; `chosen`: the indexes of those that are performed.
 * @throws RESOURCE_CONFLICT it is something else by now
 */
export async function checkShown(
  ctx: Context,
  due: Due,
  { all, chosen, made }: { all: readonly PlanAction[]; chosen: ReadonlySet<number>; made: Made },
): Promise<void> {
  const { action, spec, entityId, params } = due;
  if (await customFieldsChanged(ctx, { entity_id: entityId, params, before: action.before })) throw differs(CHANGED);
  if (!needsLook(action, all, chosen)) return;
  const found = await readBefore(ctx, { tool: action.tool, spec, entityId, params }, countsTree(action));
  if (found && takesTree(action) && found.descendants !== shownTree(action)) {
    throw differs(
      `The number of subtasks has changed since the plan was staged: ${found.descendants}, not ${String(shownTree(action))}`,
    );
  }
  if (!(await isAsShown(ctx, due, found, made))) throw differs(CHANGED);
}
