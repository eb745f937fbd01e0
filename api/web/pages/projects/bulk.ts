import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { TaskId, Text } from '../../../platform/fields.js';
import { trashTask } from '../../../work/tasks/write/trash-task.js';
import { placeTask } from '../../../work/tasks/order/place-task.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import { type Notice, page, type Page, requireUser } from '../../page.js';
import { notFound } from '../../../platform/errors.js';
import { TASK_ACTS } from '../../navigation/keys.js';
import type { Fields } from '../../server/read-form.js';
import type { Changed, ChangedTask, Undo, ValuedTask } from '../../server/undo.js';
import { FieldParam } from '../filters/field-params.js';
import { changeTicked } from './change-ticked.js';
import { type ButtonChange, CHANGED_BY_BUTTON, describeChange } from './describe-change.js';
import { closeTicked, undoClosed } from './duplicates.js';
import { describeLeft, type EachResult, eachTask } from './each-task.js';
import { Ticked, Version } from './form-fields.js';
import { backPath, itemPath } from './paths.js';
import { Choice, fieldsOf, nameChoice } from './stage-choices.js';
import { TaskAct } from './task-action.js';
import { loadTaskActions } from './task-actions.js';

/** Tasks that one form changes. */
const MAX_TICKED = 100;

/** A box of a row: `3:task-id`, the version that the row showed and the id. */
const Row = z
  .string()
  .regex(/^\d{1,9}:./)
  .transform((text): Changed => [TaskId.parse(text.slice(text.indexOf(':') + 1)), Number(text.slice(0, text.indexOf(':')))]);

const Rows = Ticked.pipe(
  z.array(Row).min(1, 'Tick a task first').max(MAX_TICKED, `At most ${MAX_TICKED} tasks can be changed at once`),
);

const counted = (count: number, one: string, many: string): string => (count === 1 ? one : `${count} ${many}`);

/** Counts the tasks that changed, and those that had the values already: Undo counts only the first. */
function countChanged(all: number, same: number, changed: string): string {
  const rest = same === 1 ? 'one was so already' : `${same} were so already`;
  if (same === all) return all === 1 ? 'It is so already' : `All ${all} tasks are so already`;
  return `${counted(all - same, 'One task', 'tasks')} ${changed}${same === 0 ? '' : `; ${rest}`}`;
}

interface Outcome {
  changed: string;
  /** Tasks that had the values already. */
  same?: number;
  undo?: Undo | undefined;
}

/** Says what became of the ticked tasks, with what takes it back. */
async function toNotice(
  ctx: Context,
  found: EachResult<Changed, unknown>,
  { changed, same = 0, undo }: Outcome,
): Promise<Notice> {
  const { done, failed } = found;
  const left = await describeLeft(ctx, found, 'changed since you opened the list');
  const isCertain = failed.every(({ error }) => error.status < 500);
  if (done.length === 0) return { kind: 'bad', text: isCertain ? `Nothing was changed. ${left}` : left };
  const text = `${countChanged(done.length, same, changed)}${left === '' ? '' : `. ${left}`}`;
  return { kind: left === '' ? 'good' : 'bad', text, undo };
}

/** Returns what takes back the change of some tasks. */
function undoChanged(tasks: readonly (ChangedTask | ValuedTask)[]): Undo {
  const isValued = (task: ChangedTask | ValuedTask): task is ValuedTask => Array.isArray(task[2]);
  if (!tasks.some(isValued)) return { kind: 'revert_tasks', tasks: tasks as ChangedTask[] };
  return {
    kind: 'revert_fields',
    tasks: tasks.map((task) => (isValued(task) ? task : [task[0], task[1], [], ...(task.slice(2) as [])])),
  };
}

async function noticeOfChange(ctx: Context, rows: Changed[], form: Fields): Promise<Notice> {
  const found = await changeTicked(ctx, rows, form);
  // A task that had the values already keeps its version, so there is nothing to take back.
  const tasks = found.done.flatMap(({ result }) => (result === undefined ? [] : [result]));
  const undo = tasks.length > 0 ? undoChanged(tasks) : undefined;
  return toNotice(ctx, found, { changed: 'changed', same: found.done.length - tasks.length, undo });
}

/** Closes tasks as duplicates of one that the palette has found. */
async function noticeOfDuplicates(ctx: Context, rows: Changed[], originalId: string): Promise<Notice> {
  const found = await closeTicked(ctx, rows, originalId);
  const closed = found.done.map(({ result }) => result);
  const same = closed.filter(({ task, naming }) => !task && !naming).length;
  return toNotice(ctx, found, { changed: 'changed', same, undo: undoClosed(closed, originalId) });
}

/** Makes the change of a button of the palette, and says of a single task what became of it. */
async function noticeOfButton(ctx: Context, me: User, rows: Changed[], change: ButtonChange): Promise<Notice> {
  const { field, value } = change;
  const notice = await (field === 'duplicate_of'
    ? noticeOfDuplicates(ctx, rows, value)
    : noticeOfChange(ctx, rows, { [field]: value }));
  const [row, ...others] = rows;
  if (notice.kind === 'bad' || !row || others.length > 0) return notice;
  return notice.undo === undefined ? notice : { ...notice, text: await describeChange(ctx, me, row[0], change) };
}

async function trashTicked(ctx: Context, rows: Changed[]): Promise<Notice> {
  const found = await eachTask(ctx, rows, ([id, version]) => trashTask(ctx, id, version));
  const undo = { kind: 'restore_tasks' as const, ids: found.done.map(({ item: [id] }) => id) };
  return toNotice(ctx, found, { changed: 'in the trash', undo });
}

/** `priority:high`: what a button of the palette changes. */
const Change = z
  .string()
  .max(5_200)
  .regex(/^[a-z0-9_]+:./)
  .transform((text): unknown => ({ field: text.slice(0, text.indexOf(':')), value: text.slice(text.indexOf(':') + 1) }))
  .pipe(z.object({ field: z.union([z.enum(CHANGED_BY_BUTTON), FieldParam]), value: z.string() }));

const teamsOf = ({ teams }: User): string[] => teams.map(({ team_id }) => team_id);

/** `done:3:task-id`: what a button of a card or a row makes of a task. */
const Move = z
  .string()
  .regex(/^[a-z_]+:\d+:.|^[0-9a-f-]{36}:\d+:./)
  .transform((text): unknown => {
    const [status, version] = text.split(':') as [string, string];
    return { status, version, task_id: text.slice(status.length + version.length + 2) };
  })
  .pipe(z.object({ status: Choice, version: Version, task_id: TaskId }));

const MAX_QUERY = 500;
/** What can be typed where the choices depend on it. */
const HINTS: Partial<Record<TaskAct, string>> = {
  field: 'A field, or one of its values',
  due: 'A day, such as next friday',
  tag: 'A tag',
  estimate: 'Points, such as 4',
  duplicate: 'HAR-12, or words of its title',
};

/** `status:3:task-id`: what a row asks to choose, of which task, and the version that the row showed. */
const Pick = z
  .string()
  .regex(/^[a-z0-9_]+:\d+:./)
  .transform((text): unknown => {
    const [act, version] = text.split(':') as [string, string];
    return { act, version, task_id: text.slice(act.length + version.length + 2) };
  })
  .pipe(z.object({ act: TaskAct, version: Version, task_id: TaskId }));

export const bulkTaskPages: Page[] = [
  page({
    method: 'get',
    path: '/app/tasks/change',
    access: 'task.read',
    query: z.object({ pick: Pick, q: Text.max(MAX_QUERY).catch(''), back: z.string().max(2_000).optional().catch(undefined) }),
    async handle({ ctx, me, query: { pick, q, back } }) {
      const { act, version, task_id: taskId } = pick;
      const found = await loadTaskActions(ctx, requireUser({ me }), { taskId, count: 1, q, act });
      if (found === null) throw notFound('Task');
      const title = found.does ?? TASK_ACTS.find((one) => one.act === act)?.does ?? 'Duplicate of';
      const data = {
        act,
        q,
        hint: found.hint ?? HINTS[act],
        taskId,
        version,
        heading: found.title,
        actions: found.actions,
        back: backPath(back, itemPath(taskId)),
      };
      return { view: 'tasks/choose', title, data };
    },
  }),
  page({
    method: 'post',
    path: '/app/tasks/change',
    access: 'task.write',
    // The bar below a list has one field for each kind of change; a button makes one change.
    form: z.looseObject({ task: Rows, act: z.enum(['change', 'delete']).default('change'), change: Change.optional() }),
    async handle({ ctx, me, form }) {
      const { task, act, change } = form;
      const notice =
        act === 'delete'
          ? await trashTicked(ctx, task)
          : change === undefined
            ? await noticeOfChange(ctx, task, form)
            : await noticeOfButton(ctx, requireUser({ me }), task, change);
      return { to: backPath(form['back'], itemPath(task[0]?.[0] ?? '')), notice };
    },
    onError: ({ form }, { message, fields }) => {
      const text = Object.values(fields)[0] ?? message;
      return Promise.resolve({ to: backPath(form['back'], '/app'), notice: { kind: 'bad', text } });
    },
  }),
  page({
    method: 'post',
    path: '/app/tasks/move',
    access: 'task.write',
    form: z.object({
      to: Move,
      back: z.string().max(2_000).optional(),
      after: TaskId.optional(),
      before: TaskId.optional(),
      same: z.string().optional(),
    }),
    async handle({ ctx, me, form: { to, back, after, before, same } }) {
      const { status, version, task_id } = to;
      const isPlaced = after !== undefined || before !== undefined;
      // A task that is put elsewhere in its column keeps the status that it may have got meanwhile: then its version has changed too.
      const fields = same === undefined ? { ...fieldsOf(status), version } : { version };
      const left = isPlaced ? await placeTask(ctx, task_id, { after, before }, fields) : await updateTask(ctx, task_id, fields);
      const undo = left === version ? undefined : { kind: 'revert_tasks' as const, tasks: [[task_id, left] as Changed] };
      const text = same === undefined ? `Moved to ${await nameChoice(ctx, teamsOf(requireUser({ me })), status)}` : 'Moved';
      return { to: backPath(back, itemPath(task_id)), notice: { kind: 'good', text, undo } };
    },
    onError: ({ form }, { message, changedSince }) => {
      const text = changedSince ? 'The task has changed since you opened the page, so it stays where it is.' : message;
      return Promise.resolve({ to: backPath(form['back'], '/app'), notice: { kind: 'bad', text } });
    },
  }),
];
