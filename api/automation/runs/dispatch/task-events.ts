import { isDeepStrictEqual } from 'node:util';
import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { triggersOfEvent } from '../../../platform/events/event-types.js';
import { listActivity } from '../../../work/activity-feed/list-activity.js';
import type { ActivityEntry } from '../../../work/activity-feed/schema.js';
import { parseCustomKey, toCustomKey } from '../../../work/custom-fields/rules.js';
import { searchItems } from '../../../work/search/search-items.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';
import type { Task } from '../../../work/tasks/schema.js';
import type { AutomationRecord } from '../../definitions/schema.js';
import { keyOfCondition } from '../../language/condition-rows.js';
import { nameTask } from '../../language/name-task.js';
import { TRIGGERS } from '../../language/triggers.js';

/**
 * Events about tasks, built from what is kept of every change: its line in the activity, and the task as it is now. No event is stored for an automation
 * that does not exist yet.
 */

/** A task that an automation can be tried with. */
export interface TaskEvent {
  task_id: string;
  title: string;
  /** The change that started such an automation; null for a task that had none, which is tried as if it were changed now. */
  change: Pick<ActivityEntry, 'timestamp' | 'summary' | 'changes'> | null;
}

type Place = Pick<AutomationRecord, 'team_id' | 'project_id' | 'trigger_type'>;
type Change = Pick<ActivityEntry, 'action' | 'changes'>;

/** Lines of the activity that are looked through. */
const MAX_LINES = 100;
const MAX_LINES_OF_TASK = 30;

const TYPES: Readonly<Record<string, string>> = { create: 'task.created', update: 'task.updated', restore: 'task.restored' };

const sampleOf = (trigger: string): Record<string, unknown> => TRIGGERS.find(({ key }) => key === trigger)?.sample_payload ?? {};

/** Returns whether an automation starts by events about a task: what happens to one, or to what names one. */
export const startsByTask = (trigger: string): boolean => 'task' in sampleOf(trigger);

/** Returns whether the activity of a task tells what starts an automation: not what happens beside it, or to one that is in the trash. */
export const isInActivity = (trigger: string): boolean => trigger.startsWith('task.') && trigger !== 'task.deleted';

const FIELD_CHANGED = 'task.field_changed';

/** The key of the custom field that a line is about, as none is about another change too. */
const keyOf = ({ changes }: Change): string | undefined => Object.keys(changes ?? {}).map(parseCustomKey)[0];

/** Whether a line is about the task itself: one about a custom field or a file alone is none of its record. */
const isOwn = ({ action, changes }: Change): boolean =>
  action !== 'update' || Object.keys(changes ?? {}).some((field) => parseCustomKey(field) === undefined);

/** Returns whether a change of a task starts automations of a trigger. */
export const fits = (trigger: string, change: Change, task: object): boolean => {
  const { action, changes } = change;
  if (trigger === FIELD_CHANGED) return keyOf(change) !== undefined;
  const type = isOwn(change) ? TYPES[action] : undefined;
  return type !== undefined && triggersOfEvent(type, { task, changes: changes ?? {} }).includes(trigger);
};

/** $1 = team id, $2 = event (jsonb). */
const namesStatement = defineStatement({
  name: 'names_of_one_task_event',
  text: 'select key as team_key, names_of_task_event(team_id, $2::jsonb) as names from teams where team_id = $1',
});

/** Returns an event about a task of a team with the names that the relay gives it. */
export async function withTaskNames<T extends Record<string, unknown>>(
  ctx: Pick<Context, 'db'>,
  event: T,
  teamId: string,
): Promise<T> {
  const { task, changes } = event;
  const [found] = await run<Parameters<typeof nameTask>[1] & T>(ctx.db, namesStatement, [
    teamId,
    JSON.stringify({ task, changes }),
  ]);
  return nameTask(event, found ?? { team_key: null, names: null }) as T;
}

/**
 * $1 = team id, $2 = task id, $3 = key, or text that may name one, $4 = value before, $5 = value after; both null: as if the value that it has had just been
 * set. The field of this key, else one that the text names in quotes, else one with a value, else the first.
 */
const fieldStatement = defineStatement({
  name: 'changed_field_of_task',
  text: /* sql */ `
    select json_build_object('field_id', f.field_id, 'key', f.key, 'name', f.name, 'type', f.field_type) as field,
      custom_value_change(f, $4::jsonb, case when $4::jsonb is null and $5::jsonb is null then custom_field_json(v)::jsonb else $5::jsonb end) as changes
    from custom_fields f left join custom_field_values v on v.field_id = f.field_id and v.entity_id = $2
    where f.team_id = $1 and f.entity_type = 'task'
    order by f.key = $3 desc, strpos($3, '"' || f.key || '"') > 0 desc, f.is_archived, v.field_id is not null desc, f.position, f.created_at limit 1`,
});

/** Returns the event of a change of a custom field; without one of the team, it is about the task alone. */
async function eventOfField(
  ctx: Context,
  task: Task,
  named: string,
  change?: { from: unknown; to: unknown },
): Promise<Record<string, unknown>> {
  const [from, to] = [change?.from ?? null, change?.to ?? null].map((value) => (value === null ? null : JSON.stringify(value)));
  const [found] = await run<{ field: object; changes: object }>(ctx.db, fieldStatement, [
    task.team_id,
    task.task_id,
    named,
    from,
    to,
  ]);
  return withTaskNames(ctx, { type: FIELD_CHANGED, task, changes: {}, ...found }, task.team_id);
}

/** Returns the event of a change: the fields that it set, on the task as it is now. */
export async function eventOfChange(ctx: Context, change: Change, task: Task): Promise<Record<string, unknown>> {
  const { action, changes } = change;
  const key = keyOf(change);
  if (key !== undefined) return eventOfField(ctx, task, key, changes?.[toCustomKey(key)]);
  const set = Object.fromEntries(Object.entries(changes ?? {}).map(([field, { to }]) => [field, to]));
  const event = { type: TYPES[action] ?? 'task.updated', task: { ...task, ...set }, changes: changes ?? {} };
  return withTaskNames(ctx, event, task.team_id);
}

/** Returns the event of a task whose custom field has just got a value. */
async function eventAsIf(ctx: Context, task: Task, key: string, to: unknown): Promise<Record<string, unknown>> {
  const { custom_fields = {} } = JSON.parse((await getTask(ctx, task.task_id, true)).json) as {
    custom_fields?: Record<string, unknown>;
  };
  const was = custom_fields[key] ?? null;
  return eventOfField(ctx, task, key, { from: isDeepStrictEqual(was, to) ? null : was, to });
}

const before = (status: Task['status']): Task['status'] =>
  TASK_STATUSES[Math.max(0, TASK_STATUSES.indexOf(status) - 1)] ?? 'todo';

/** What a trigger says of a task that is changed now; the others change nothing. */
const AS_IF: Readonly<Record<string, (task: Task, userId: string) => Change['changes']>> = {
  'task.completed': ({ status }) => ({ status: { from: status === 'done' ? 'in_review' : status, to: 'done' } }),
  'task.status_changed': ({ status }) => ({ status: { from: before(status), to: status } }),
  'task.stage_changed': ({ stage_id }) => ({ stage_id: { from: null, to: stage_id } }),
  'task.canceled': ({ status, resolution }) => ({
    ...(status !== 'done' && { status: { from: status, to: 'done' } }),
    resolution: { from: null, to: resolution ?? 'canceled' },
  }),
  'task.priority_changed': ({ priority }) => ({ priority: { from: priority === 'medium' ? 'low' : 'medium', to: priority } }),
  'task.assigned': ({ assigned_to }, userId) => ({ assigned_to: { from: null, to: assigned_to ?? userId } }),
};

/** The stored event behind a derived one. */
const EVENT_OF: Readonly<Record<string, string>> = Object.fromEntries(Object.keys(AS_IF).map((name) => [name, 'task.updated']));

/** `key`: of the custom field that is meant; undefined if any is. */
async function findChange(ctx: Context, trigger: string, taskId: string, key?: string): Promise<ActivityEntry | undefined> {
  const lines = await listActivity(ctx, { entity_id: taskId, entity_type: 'task', limit: MAX_LINES_OF_TASK });
  return lines.find((line) => fits(trigger, line, {}) && (key === undefined || keyOf(line) === key));
}

/** Returns the sample of a trigger with a task in the place of the made-up one, in the records beside it too. */
function aboutTask(trigger: string, task: Task): Record<string, unknown> {
  const { task_id, team_id, project_id } = task;
  const ids: Record<string, unknown> = { task_id, team_id, project_id };
  const place = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'task_id' in value
      ? { ...value, ...Object.fromEntries(Object.entries(ids).filter(([name]) => name in value)) }
      : value;
  const { linked_task_ids, ...sample } = sampleOf(trigger);
  const placed = Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, place(value)]));
  return { ...placed, ...(linked_task_ids !== undefined && { linked_task_ids: [task_id] }), task };
}

/** Reads a task as an event has it. @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member */
export async function readTask(ctx: Context, taskId: string): Promise<Task> {
  const { subtasks: _below, ...task } = JSON.parse((await getTask(ctx, taskId)).json) as Task & { subtasks: unknown };
  return task;
}

/**
 * Reads a task with which an automation can be tried: the run keeps it where the team of the automation reads it, so it is one of that team.
 * @throws RESOURCE_NOT_FOUND unknown, or of another team | PERMISSION_DENIED not a member
 */
export async function readTaskFor(ctx: Context, { team_id }: Pick<Place, 'team_id'>, taskId: string): Promise<Task> {
  const task = await readTask(ctx, taskId);
  if (team_id !== null && task.team_id !== team_id) throw notFound('Task');
  return task;
}

/** Returns the key of the custom field whose change an automation waits for; undefined where it waits for any, or for another event. */
export const keyOfTrigger = ({
  trigger_type,
  condition,
}: Pick<AutomationRecord, 'trigger_type' | 'condition'>): string | undefined =>
  trigger_type === FIELD_CHANGED ? keyOfCondition(condition ?? '') : undefined;

/**
 * Builds the event with which an automation is tried for a task: its newest change that starts such an automation, of the custom field that the condition
 * names, else as if it were changed now.
 * @param becomes the value that this field has just got, instead of what it has had
 * @throws the errors of `readTaskFor`
 */
export async function buildTaskEvent(
  ctx: Context,
  { team_id, trigger_type, condition }: Pick<AutomationRecord, 'team_id' | 'trigger_type' | 'condition'>,
  taskId: string,
  becomes?: unknown,
): Promise<Record<string, unknown>> {
  const task = await readTaskFor(ctx, { team_id }, taskId);
  const key = keyOfTrigger({ trigger_type, condition });
  if (key !== undefined && becomes !== undefined) return eventAsIf(ctx, task, key, becomes);
  if (!isInActivity(trigger_type)) return withTaskNames(ctx, aboutTask(trigger_type, task), task.team_id);
  const change = await findChange(ctx, trigger_type, taskId, key);
  if (change) return eventOfChange(ctx, change, task);
  if (trigger_type === FIELD_CHANGED) return eventOfField(ctx, task, key ?? condition ?? '');
  const changes = AS_IF[trigger_type]?.(task, requireUser(ctx)) ?? {};
  const event = await eventOfChange(ctx, { action: 'update', changes }, task);
  return { ...event, type: EVENT_OF[trigger_type] ?? trigger_type };
}

const isNewest = (lines: readonly ActivityEntry[], at: number): boolean =>
  lines.findIndex(({ entity_id }) => entity_id === lines[at]?.entity_id) === at;

/**
 * Lists the tasks whose newest changes start automations of this trigger where the automation is, as far as the caller may read them; those that changed
 * last where no change of a task does.
 */
export async function listTaskEvents(
  ctx: Context,
  { team_id, project_id, trigger_type }: Place,
  limit: number,
): Promise<TaskEvent[]> {
  if (!startsByTask(trigger_type)) return [];
  const where = project_id !== null ? { project_id } : team_id !== null ? { team_id } : { user_id: requireUser(ctx) };
  const lines = await listActivity(ctx, { ...where, entity_type: 'task', limit: MAX_LINES });
  const fromActivity = isInActivity(trigger_type);
  const found = new Map<string, TaskEvent>();
  const gone = new Set(
    lines.filter(({ action }, at) => action === 'delete' && isNewest(lines, at)).map(({ entity_id }) => entity_id),
  );
  for (const line of lines) {
    if (found.size === limit) break;
    if (found.has(line.entity_id) || gone.has(line.entity_id) || (fromActivity && !fits(trigger_type, line, {}))) continue;
    found.set(line.entity_id, {
      task_id: line.entity_id,
      title: line.entity_title ?? line.entity_id,
      change: fromActivity ? line : null,
    });
  }
  return [...found.values()];
}

/**
 * Finds tasks by words of their titles, where the automation is.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function findTaskEvents(ctx: Context, place: Place, query: string, limit: number): Promise<TaskEvent[]> {
  const { team_id, project_id, trigger_type } = place;
  const { results } = await searchItems(ctx, { query, limit: 3 * limit });
  const here = results.filter(
    (one) =>
      one.item_type === 'task' && one.team_id === (team_id ?? one.team_id) && one.project_id === (project_id ?? one.project_id),
  );
  return Promise.all(
    here.slice(0, limit).map(async ({ item_id, title }) => ({
      task_id: item_id,
      title,
      change: isInActivity(trigger_type) ? ((await findChange(ctx, trigger_type, item_id)) ?? null) : null,
    })),
  );
}
