import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import { lockCycle, readCycle } from '../../../work/cycles/read-cycle.js';
import { mayHold } from '../../../work/cycles/rules.js';
import { addTasksToCycle } from '../../../work/cycles/tasks/add-tasks.js';
import { removeTaskFromCycle } from '../../../work/cycles/tasks/remove-task.js';
import { readTaskStates, type TaskState } from '../../../work/tasks/read/read-states.js';
import { UpdateTask } from '../../../work/tasks/schema.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import type { Fields } from '../../server/read-form.js';
import type { Changed, ChangedTask, ValuedTask } from '../../server/undo.js';
import { type EachResult, eachTask } from './each-task.js';
import { type Planned, planFields, readFieldChanges, setFields } from './field-changes.js';
import { parseInput, readChoice, readPoints, splitTags } from './form-fields.js';

/** Says in a form that the task gets no assignee, no due date or no estimate; an empty value leaves the field as it is. */
export const NOTHING = 'nobody';
/** Says in a form that the task is in no cycle. */
export const BACKLOG = 'backlog';

/** What a form makes of each ticked task. */
interface TickedChange {
  patch: Omit<UpdateTask, 'version'>;
  add: string[];
  remove: string[];
  /** The new cycle; null for none, undefined for the one that it is in. */
  cycle: string | null | undefined;
  /** Values of custom fields. */
  fields: ReturnType<typeof readFieldChanges>;
}

const textIn = (form: Fields, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** Returns what a form changes. @throws INVALID_REQUEST nothing | VALIDATION_ERROR */
function readChange(form: Fields): TickedChange {
  const given = ['status', 'priority', 'assigned_to', 'due_date', 'estimate', 'project_id'].flatMap((name) => {
    const value = form[name];
    if (value === undefined || value === '') return [];
    return [[name, value === NOTHING ? null : name === 'estimate' ? readPoints(value) : value] as const];
  });
  const [add, remove] = [splitTags(textIn(form, 'add_tag')), splitTags(textIn(form, 'remove_tag'))];
  const cycle = textIn(form, 'cycle');
  const fields = readFieldChanges(form);
  if (given.length === 0 && add.length === 0 && remove.length === 0 && cycle === '' && fields.length === 0)
    throw invalid('Choose what to change in the ticked tasks');
  parseInput(UpdateTask, { tags: [...add, ...remove] });
  const to = cycle === '' ? undefined : cycle === BACKLOG ? null : cycle;
  return { patch: parseInput(UpdateTask, readChoice(Object.fromEntries(given))), add, remove, cycle: to, fields };
}

/**
 * Checks that a cycle may get a task of the project, once for all of a form; of any project without one.
 * @throws the errors of `readCycle` | INVALID_REQUEST | RESOURCE_CONFLICT
 */
export async function checkCycle(ctx: Context, cycleId: string, projectId?: string): Promise<void> {
  const cycle = await readCycle(ctx, 'cycle.write', cycleId);
  if (projectId !== undefined && !mayHold(cycle, { team_id: cycle.team_id, project_id: projectId }))
    throw invalid('The cycle is one of another project');
  if (cycle.status === 'completed') throw conflict('The cycle is completed; its tasks cannot change');
}

/** Returns the tags after the change; undefined if they stay. @throws INVALID_REQUEST too many */
function changeTags(tags: readonly string[], { add, remove }: TickedChange): string[] | undefined {
  const after = [...new Set([...tags.filter((tag) => !remove.includes(tag)), ...add])];
  if (after.length === tags.length && after.every((tag) => tags.includes(tag))) return undefined;
  const { error } = UpdateTask.shape.tags.safeParse(after);
  if (error) throw invalid(`tags ${error.issues[0]?.message}`);
  return after;
}

/** Returns the cycle of a task as it is now; null for none. */
const findCycle = async (ctx: Context, id: string): Promise<string | null> =>
  (await readTaskStates(ctx, [id])).get(id)?.cycle_id ?? null;

/**
 * Changes one task, its fields and its cycle both or neither, and returns what takes it back; undefined if nothing got another value.
 * @throws the errors of `updateTask`, and of the cycle that the task joins or leaves
 */
export async function changeTask(
  ctx: Context,
  [id, version]: Changed,
  state: TaskState | undefined,
  { patch, cycle: wanted }: Pick<TickedChange, 'patch' | 'cycle'>,
): Promise<ChangedTask | undefined> {
  // Checks the version also where no field changes.
  const change = (ctx: Context): Promise<number> => updateTask(ctx, id, { ...patch, version });
  const from = state?.cycle_id ?? null;
  const to = wanted === undefined ? from : wanted;
  const cycle = to ?? from;
  if (to === from || cycle === null) {
    const after = await change(ctx);
    return after === version ? undefined : [id, after];
  }
  return inTransaction(ctx, async (ctx) => {
    // Writers lock cycles before tasks.
    await readCycle(ctx, 'cycle.write', cycle);
    await lockCycle(ctx, cycle);
    const after = await change(ctx);
    // A task that moves to another project leaves the cycle of the first by that.
    if (to === null && patch.project_id !== undefined && (await findCycle(ctx, id)) === null) return [id, after];
    if (to === null) await removeTaskFromCycle(ctx, cycle, id);
    else await addTasksToCycle(ctx, to, [id]);
    return [id, after + 1, from ?? '', after === version ? 0 : 1];
  });
}

/** What a move to another project does first: tasks below others that are ticked move with these, and stay below them; then those on top. */
function rankMove(states: ReadonlyMap<string, TaskState>, id: string): number {
  const above = states.get(id)?.parent_task_id;
  return !above ? 1 : states.has(above) ? 0 : 2;
}

/** What takes back the change of a ticked task. */
type TickedResult = ChangedTask | ValuedTask | undefined;

/** Changes a task and its custom fields, both or neither. */
function changeValued(ctx: Context, [id]: Changed, values: Planned, change: (ctx: Context) => Promise<ChangedTask | undefined>) {
  return inTransaction(ctx, async (ctx): Promise<TickedResult> => {
    const changed = await change(ctx);
    const set = await setFields(ctx, id, values);
    if (set.length === 0) return changed;
    const [, version, ...rest] = changed ?? ([id, 0] as Changed);
    return [id, version, set, ...rest];
  });
}

/**
 * Changes the ticked tasks, of whatever projects and teams, each by itself. The result of a task is what takes it back.
 * @throws INVALID_REQUEST nothing to change | VALIDATION_ERROR | the errors of `checkCycle`
 */
export async function changeTicked(ctx: Context, rows: Changed[], form: Fields): Promise<EachResult<Changed, TickedResult>> {
  const wanted = readChange(form);
  const { cycle } = wanted;
  if (typeof cycle === 'string') await checkCycle(ctx, cycle);
  const { project_id, ...fields } = wanted.patch;
  const isMoved = project_id !== undefined;
  const isLookedUp = isMoved || cycle !== undefined || wanted.add.length + wanted.remove.length + wanted.fields.length > 0;
  const ids = rows.map(([id]) => id);
  const states = isLookedUp ? await readTaskStates(ctx, ids) : new Map<string, TaskState>();
  const plan = await planFields(ctx, wanted.fields, states.values());
  const rank = (id: string): number => (isMoved ? rankMove(states, id) : 1);
  return eachTask(
    ctx,
    rows.toSorted(([one], [other]) => rank(one) - rank(other)),
    async (row) => {
      const state = states.get(row[0]);
      const tags = state && changeTags(state.tags, wanted);
      const patch = { ...(rank(row[0]) === 0 ? fields : wanted.patch), ...(tags && { tags }) };
      const change = (ctx: Context) => changeTask(ctx, row, state, { cycle, patch });
      const values = state ? plan(state) : [];
      return values.length === 0 ? change(ctx) : changeValued(ctx, row, values, change);
    },
    // Each locks both projects.
    isMoved ? 1 : undefined,
  );
}
