import type { Effect, Fields, Performed, WorkAction } from '../work-actions/action.js';
import type { Risk } from '../contract/action-type.js';
import { getAction, isReversible, getRisk, type Tool } from '../work-actions/catalogue.js';
import { startsNext } from '../work-actions/risk.js';
import { type Context, requireUser } from '../../platform/context.js';
import { CUSTOM_FIELDS, customFieldsIn, readCustomValues } from './custom-values.js';
import { createdFields, deletedFields, differences, named } from './describe-effect.js';
import { countsTree, readBefore } from './read-before.js';
import { readTarget, type Target } from './read-target.js';
import { replaceReferences } from './references.js';

/** An action to be tried. Ids may be references to what earlier actions create. */
export interface Attempt {
  tool: Tool;
  spec: WorkAction;
  /** Null for a creation. */
  entityId: string | null;
  params: Record<string, unknown>;
}

/** What a person is shown of an effect; null where there is nothing. */
interface ShownChange {
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** What an action did. */
export interface Tried extends ShownChange {
  /** Parameters that named what the team names, with ids. */
  resolved: Fields;
  performed: Performed;
  /** The target as it was; absent for most creations. */
  from: Target | undefined;
  /** The target, or what was created, as it is now. */
  to: Target;
  risk: Risk;
  reversible: boolean;
}

interface Outcome {
  performed: Performed;
  from: Target | undefined;
  to: Target;
}

function describe({ tool, spec, params }: Attempt, { performed, from, to }: Outcome): ShownChange {
  if (spec.kind === 'comment') return { before: null, after: performed.mentions?.length ? { mentions: performed.mentions } : {} };
  if (tool === 'relation.create') {
    const parent = performed.made?.entity_id.startsWith('parent:') ? from?.record['source_id'] : undefined;
    return { before: parent === undefined ? null : { parent_task_id: parent }, after: { ...params } };
  }
  if (spec.kind === 'create') return { before: null, after: createdFields(to) };
  if (!from) throw new Error(`${tool} had no target`);
  if (spec.kind === 'restore') {
    const along = to.descendants > 0 ? { subtasks_restored: to.descendants } : {};
    return { before: null, after: { ...deletedFields(to), ...along } };
  }
  if (spec.kind === 'remove') {
    return { before: deletedFields(from), after: from.descendants > 0 ? { subtasks_trashed: from.descendants } : null };
  }
  const changed = differences(from.record, to.record);
  const moved = 'project_id' in changed.after && from.descendants > 0 ? { subtasks_moved: from.descendants } : {};
  const next = startsNext(from.record, to.record) ? { next_occurrence: true } : {};
  return { before: changed.before, after: { ...changed.after, ...moved, ...next } };
}

const buildEffect = (ctx: Context, { performed, from, to }: Outcome): Effect => ({
  before: from?.record ?? null,
  after: to.record,
  userId: requireUser(ctx),
  descendants: from?.descendants ?? 0,
  openDescendants: from?.open_descendants ?? 0,
  mentions: performed.mentions?.length ?? 0,
});

/** Returns a target whose record has the custom fields that parameters set. */
async function withCustomValues(ctx: Context, id: string | null, params: Fields, target: Target): Promise<Target> {
  const set = customFieldsIn(params);
  if (id === null || Object.keys(set).length === 0) return target;
  return { ...target, record: { ...target.record, [CUSTOM_FIELDS]: await readCustomValues(ctx, id, set) } };
}

/** Whether an action that was tried found everything as wanted. */
export const isNoChange = (tool: Tool, { before, after }: ShownChange): boolean =>
  getAction(tool).kind === 'update' && Object.keys({ ...before, ...after }).length === 0;

/**
 * Performs an action in the open transaction, which the caller rolls back, and reads what it changes before and after.
 * @param acting context in which it is performed
 * @param made ids of what earlier actions created, by index; what is shown names them by reference, because the performance gives other ids
 * @param check may refuse the target before it is changed
 * @throws what the operation throws
 */
export async function tryAction(
  ctx: Context,
  attempt: Attempt,
  acting: Context,
  made: ReadonlyMap<number, string> = new Map(),
  check: (from: Target) => void = () => undefined,
): Promise<Tried> {
  const { tool, spec } = attempt;
  const { entityId, params: given } = replaceReferences(attempt, (k) => made.get(k) as string, spec.references);
  const before = await readBefore(ctx, { ...attempt, entityId, params: given }, countsTree(attempt));
  if (before) check(before);
  const resolved = (await spec.resolve?.({ ...acting, db: ctx.db }, entityId ?? '', given as never)) ?? {};
  const params = { ...given, ...resolved };
  const from = before && (await withCustomValues(ctx, entityId, params, before));
  const performed = await spec.perform({ ...acting, notifyRelay: () => undefined }, entityId ?? '', params as never);
  const shown = entityId === null ? performed.made : { entity_type: spec.entity, entity_id: entityId };
  const after = shown && (await readTarget(ctx, shown.entity_type, shown.entity_id, spec.kind === 'restore'));
  const to = after ? await withCustomValues(ctx, entityId, params, after) : from;
  if (!to) throw new Error(`${tool} left no row`);
  const outcome = { performed, from, to };
  const byReference = (fields: Fields | null): Record<string, unknown> | null => fields && named(fields, made);
  const { before: was, after: then } = describe(attempt, outcome);
  const effect = buildEffect(ctx, outcome);
  return {
    ...outcome,
    resolved,
    before: byReference(was),
    after: byReference(then),
    risk: getRisk(tool, effect),
    reversible: isReversible(tool, effect),
  };
}
