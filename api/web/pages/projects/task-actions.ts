import { listMembers } from '../../../identity/teams/list-members.js';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { toDomainError } from '../../../platform/database/database-errors.js';
import { plusDays, readDate } from '../../../platform/written-days.js';
import { getTask } from '../../../work/tasks/read/get-task.js';
import { chosenValue, TASK_PRIORITIES, TASK_RESOLUTIONS } from '../../../work/tasks/rules.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { type Stage, toPlaces } from '../../../work/tasks/stages/places.js';
import type { Task } from '../../../work/tasks/schema.js';
import { isNamed, matching } from '../../navigation/find-destinations.js';
import { TASK_ACTS } from '../../navigation/keys.js';
import { createFormatter } from '../../wording/formatter.js';
import { keyOf } from '../filters/field-params.js';
import { suggestTargets } from '../items/relation-target.js';
import { BACKLOG, NOTHING } from './change-ticked.js';
import { fieldActions } from './field-actions.js';
import { projectActions, tagActions } from './place-choices.js';
import { valueOf } from './stage-choices.js';
import type { TaskAct, TaskAction } from './task-action.js';
import { loadCycles } from './task-list.js';

/** Actions that are shown at once beside pages and items; a chooser of one kind shows all of them. */
const MAX_SHOWN = 6;
/** Choices of one chooser; what is typed finds the others. */
const MAX_CHOICES = 100;

/** What the palette does with tasks. */
export interface TaskActions {
  /** `“Fix the crane”`, or `3 tasks`. */
  title: string;
  actions: TaskAction[];
  /** Of the chooser of a custom field: what it does, and what can be typed in it. */
  does?: string | undefined;
  hint?: string | undefined;
}

/** The first of the tasks that an action is for, their number, and which chooser is open. */
interface Wanted {
  taskId: string;
  count: number;
  q: string;
  act: TaskAct | undefined;
}

/** Reads the task. Undefined if it is not there any more, not the user's to change, or no task at all. */
async function findTask(ctx: Context, me: User, taskId: string): Promise<Task | undefined> {
  const found = await getTask(ctx, taskId).catch((error: unknown) => {
    if (toDomainError(error).status < 500) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const task = JSON.parse(found.json) as Task;
  const role = me.teams.find(({ team_id }) => team_id === task.team_id)?.role;
  return isAllowed('task.write', (role ?? null) as Seat | null) ? task : undefined;
}

/** The statuses with the stages of the team among them, each named with its status. */
function statusActions(task: Task, stages: readonly Stage[], { formatStatus }: ReturnType<typeof createFormatter>): TaskAction[] {
  const choices = [
    ...toPlaces(stages).map((place) => ({
      value: valueOf(place),
      icon: place.status,
      name: place.stage?.name ?? formatStatus(place.status),
      ...(place.stage && { of: formatStatus(place.status) }),
    })),
    ...TASK_RESOLUTIONS.map((value) => ({ value, icon: value, name: formatStatus(value) })),
  ];
  return choices.map(({ value, name, ...more }, at) => ({
    act: 'status',
    label: `Set status to ${name}`,
    words: `move state stage ${at + 1}`,
    ...(value === 'duplicate' ? { opens: 'duplicate' as const } : { change: `status:${value}` }),
    ...more,
    isCurrent: chosenValue(task) === value,
  }));
}

/** Tasks that a duplicate can name as its original, for what is typed; at last, none of them. */
async function duplicateActions(ctx: Context, me: User, task: Task, q: string): Promise<TaskAction[]> {
  const found = q === '' ? [] : await suggestTargets(ctx, me, q, { itemId: task.task_id, type: 'task' });
  const common = { act: 'duplicate', icon: 'check', words: '' } as const;
  return [
    ...found.map(({ item_id, label, about }) => ({ ...common, label, of: about, change: `duplicate_of:${item_id}` })),
    { ...common, label: 'Duplicate, without saying of which task', change: 'status:duplicate' },
  ];
}

const priorityActions = (task: Task): TaskAction[] =>
  TASK_PRIORITIES.toReversed().map((priority, at) => ({
    act: 'priority',
    label: `Set priority to ${priority}`,
    icon: 'warn',
    words: priority === 'none' ? 'importance 0 no remove clear' : `importance ${at + 1}`,
    change: `priority:${priority}`,
    isCurrent: task.priority === priority,
  }));

async function assigneeActions(ctx: Context, me: User, task: Task): Promise<TaskAction[]> {
  const members = (await listMembers(ctx, task.team_id)).filter(({ user_id }) => user_id !== me.user_id);
  const people = [
    { id: me.user_id, name: 'me', words: `${me.display_name} take mine` },
    ...members.map(({ user_id, display_name, username }) => ({ id: user_id, name: display_name, words: username })),
    { id: NOTHING, name: 'nobody', words: 'unassign remove assignee' },
  ];
  return people.map(({ id, name, words }) => ({
    act: 'assignee',
    label: `Assign to ${name}`,
    icon: 'person',
    words: `give ${words}`,
    change: `assigned_to:${id}`,
    isCurrent: (task.assigned_to ?? NOTHING) === id,
  }));
}

/** Days that a chooser offers, and the one that was typed. */
function dueActions(task: Task, q: string, { today, day }: ReturnType<typeof createFormatter>): TaskAction[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const typed = readDate(words[0] === 'due' ? words.slice(1) : words, today);
  const isRead = typeof typed === 'object' && typed.date !== null;
  const days: [label: string, date: string, words: string][] = [
    ...(isRead ? [[`Due ${day(typed.date as string)}`, typed.date as string, q] as [string, string, string]] : []),
    [`Due today, ${day(today)}`, today, 'date'],
    [`Due tomorrow, ${day(plusDays(today, 1))}`, plusDays(today, 1), 'date'],
    [`Due in a week, ${day(plusDays(today, 7))}`, plusDays(today, 7), 'date next'],
  ];
  const known = new Map(days.map((one) => [one[1], one] as const).toReversed());
  const dated = days.filter((one) => known.get(one[1]) === one);
  return [
    ...dated.map(
      ([label, date, more]): TaskAction => ({
        act: 'due',
        label,
        icon: 'clock',
        words: `deadline ${more}`,
        change: `due_date:${date}`,
        isCurrent: task.due_date?.slice(0, 10) === date,
        isTyped: more === q,
      }),
    ),
    {
      act: 'due',
      label: 'No due date',
      icon: 'clock',
      words: 'remove clear',
      change: `due_date:${NOTHING}`,
      isCurrent: !task.due_date,
    },
  ];
}

/** Points that a chooser offers: the larger a task is, the less exactly one can say how large. */
const POINTS = [0, 1, 2, 3, 5, 8, 13];
const TYPED_POINTS = /^(?:(?:set )?estimate (?:to |at )?)?(\d{1,3})(?: ?(?:pts?|points?))?$/;

/** Points that a chooser offers, and those that were typed. A number alone means them only where nothing else is chosen. */
function estimateActions(task: Task, q: string, act: TaskAct | undefined): TaskAction[] {
  if (act === undefined && /^\d+$/.test(q)) return [];
  const [, digits] = TYPED_POINTS.exec(q.toLowerCase()) ?? [];
  const typed = digits === undefined ? undefined : Number(digits);
  const common = { act: 'estimate', icon: 'dot' } as const;
  return [
    ...[...new Set([...(typed === undefined ? [] : [typed]), ...POINTS])].map((points) => ({
      ...common,
      label: `Set estimate to ${points} ${points === 1 ? 'point' : 'points'}`,
      words: `size ${points === typed ? q : ''}`,
      change: `estimate:${points}`,
      isCurrent: task.estimate === points,
      isTyped: points === typed,
    })),
    {
      ...common,
      label: 'No estimate',
      words: 'remove clear points',
      change: `estimate:${NOTHING}`,
      isCurrent: task.estimate === null,
    },
  ];
}

/** Cycles that a task may be in, the backlog, and in the chooser of cycles the form of a new one. */
async function cycleActions(ctx: Context, task: Task, act: TaskAct | undefined): Promise<TaskAction[]> {
  const path = `/app/cycles?team=${task.team_id}#f-name` as const;
  const creates: TaskAction = { act: 'cycle', label: 'New cycle…', icon: 'plus', words: 'create add sprint', path };
  const cycles = await loadCycles(ctx, [task]);
  const targets = [...cycles.map(({ cycle_id, name }) => ({ id: cycle_id, name })), { id: BACKLOG, name: 'the backlog' }];
  const moves = targets.map(
    ({ id, name }): TaskAction => ({
      act: 'cycle',
      label: `Move to ${id === BACKLOG ? '' : 'cycle '}${name}`,
      icon: 'cycle',
      words: 'sprint',
      change: `cycle:${id}`,
      isCurrent: (task.cycle_id ?? BACKLOG) === id,
    }),
  );
  return act === 'cycle' ? [...moves, creates] : moves;
}

/** What stands first: the next step of the task, and the choosers. */
function openActions(task: Task, me: User): TaskAction[] {
  const isDone = task.status === 'done';
  return [
    {
      act: 'done',
      label: isDone ? 'Reopen' : 'Mark as done',
      icon: 'check',
      words: 'finish close complete',
      change: `status:${isDone ? 'todo' : 'done'}`,
    },
    { act: 'mine', label: 'Assign to me', icon: 'person', words: 'take mine', change: `assigned_to:${me.user_id}` },
    ...TASK_ACTS.flatMap(({ act, does, icon }) =>
      act === 'done' || act === 'mine' ? [] : [{ act, label: `${does}…`, icon, words: '' } as const],
    ),
  ];
}

/** Returns what the palette offers of custom fields, unless the chooser of something else is open. */
const fieldsFor = (ctx: Context, me: User, task: Task, wanted: Omit<Wanted, 'taskId'>): ReturnType<typeof fieldActions> =>
  wanted.act === undefined || wanted.act === 'field' || keyOf(wanted.act) !== undefined
    ? fieldActions(ctx, me, task, wanted)
    : Promise.resolve({ actions: [] });

/**
 * Returns what the palette does with tasks, the first of which says what is offered: the choosers without a query, else the changes that match it.
 * Null if it is none that the user may change.
 */
export async function loadTaskActions(ctx: Context, me: User, { taskId, count, q, act }: Wanted): Promise<TaskActions | null> {
  const task = await findTask(ctx, me, taskId);
  if (!task) return null;
  const words = createFormatter(me);
  const title = count > 1 ? `${count} tasks` : `“${task.title}”`;
  const first = openActions(task, me);
  if (act === 'done' || act === 'mine') return { title, actions: first.filter((one) => one.act === act) };
  if (act === 'duplicate') return { title, actions: await duplicateActions(ctx, me, task, q) };
  const fields = await fieldsFor(ctx, me, task, { q, act, count });
  // What a team does not have is not offered.
  const open = fields.actions.length > 0 ? first : first.filter((one) => one.act !== 'field');
  if (act === undefined && q === '') return { title, actions: open };
  // Many projects and tags have names that people search for: they are changes only of a query that says so.
  const [stages, assignees, cycles, projects, tags] = await Promise.all([
    act === undefined || act === 'status' ? findStages(ctx, [task.team_id]) : [],
    act === undefined || act === 'assignee' ? assigneeActions(ctx, me, task) : [],
    act === undefined || act === 'cycle' ? cycleActions(ctx, task, act) : [],
    act === 'project' || (act === undefined && /^move /i.test(q)) ? projectActions(ctx, task) : [],
    act === 'tag' || (act === undefined && /^(add )?tag /i.test(q)) ? tagActions(ctx, task, q) : [],
  ]);
  const all: TaskAction[] = [
    ...statusActions(task, stages, words),
    ...assignees,
    ...priorityActions(task),
    ...dueActions(task, q, words),
    ...estimateActions(task, q, act),
    ...cycles,
    ...projects,
    ...tags,
    ...fields.actions,
  ];
  const shown = count > 1 ? all.map((one) => ({ ...one, isCurrent: false })) : all;
  if (act !== undefined) {
    const own = act === 'field' ? fields.actions : shown.filter((one) => one.act === act);
    return { ...fields, title, actions: matching(q, own).slice(0, MAX_CHOICES) };
  }
  const found = matching(q, [...open, ...shown]).slice(0, MAX_SHOWN);
  return { title, actions: found.map((one) => ({ ...one, isOther: !one.isTyped && !isNamed(q, one.label) })) };
}
