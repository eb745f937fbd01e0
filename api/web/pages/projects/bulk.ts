import { z } from 'zod';
import type { Context } from '../../../platform/context.js';
import { TaskId } from '../../../platform/fields.js';
import { ProjectParams } from '../../../work/projects/schema.js';
import { TASK_STATUSES } from '../../../work/tasks/rules.js';
import { trashTask } from '../../../work/tasks/write/trash-task.js';
import { updateTask } from '../../../work/tasks/write/update-task.js';
import { type Notice, page, type Page } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import type { Changed, Undo } from '../../server/undo.js';
import { changeTicked } from './change-ticked.js';
import { describeLeft, type EachResult, eachTask } from './each-task.js';
import { Ticked, Version } from './form-fields.js';
import { backPath, itemPath, projectPath } from './paths.js';

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

/** Says what became of the ticked tasks, with what takes it back. */
async function toNotice(ctx: Context, found: EachResult<Changed, unknown>, changed: string, undo?: Undo): Promise<Notice> {
  const { done, failed } = found;
  const left = await describeLeft(ctx, found, 'changed since you opened the list');
  const isCertain = failed.every(({ error }) => error.status < 500);
  if (done.length === 0) return { kind: 'bad', text: isCertain ? `Nothing was changed. ${left}` : left };
  const text = `${counted(done.length, 'One task', 'tasks')} ${changed}${left === '' ? '' : `. ${left}`}`;
  return { kind: left === '' ? 'good' : 'bad', text, undo };
}

async function noticeOfChange(ctx: Context, rows: Changed[], form: Fields, projectId: string): Promise<Notice> {
  const found = await changeTicked(ctx, { rows, form, projectId });
  // A task that had the values already keeps its version, so there is nothing to take back.
  const tasks = found.done.flatMap(({ result }) => (result === undefined ? [] : [result]));
  return toNotice(ctx, found, 'changed', tasks.length > 0 ? { kind: 'revert_tasks', tasks } : undefined);
}

async function trashTicked(ctx: Context, rows: Changed[]): Promise<Notice> {
  const found = await eachTask(ctx, rows, ([id, version]) => trashTask(ctx, id, version));
  return toNotice(ctx, found, 'in the trash', { kind: 'restore_tasks', ids: found.done.map(({ item: [id] }) => id) });
}

/** `done:3:task-id`: what a button of a card or a row makes of a task. */
const Move = z
  .string()
  .regex(/^[a-z_]+:\d+:./)
  .transform((text): unknown => {
    const [status, version] = text.split(':') as [string, string];
    return { status, version, task_id: text.slice(status.length + version.length + 2) };
  })
  .pipe(z.object({ status: z.enum(TASK_STATUSES), version: Version, task_id: TaskId }));

const MOVED = { todo: 'To do', in_progress: 'In progress', in_review: 'In review', done: 'Done' } as const;

export const bulkTaskPages: Page[] = [
  page({
    method: 'post',
    path: '/app/projects/:project_id/bulk',
    access: 'task.write',
    params: ProjectParams,
    form: z.looseObject({ task: Rows, act: z.enum(['change', 'delete']).default('change') }),
    async handle({ ctx, params, form }) {
      const notice =
        form.act === 'delete' ? await trashTicked(ctx, form.task) : await noticeOfChange(ctx, form.task, form, params.project_id);
      return { to: backPath(form['back'], projectPath(params.project_id)), notice };
    },
    onError: ({ params, form }, { message, fields }) => {
      const text = Object.values(fields)[0] ?? message;
      return Promise.resolve({ to: backPath(form['back'], projectPath(params.project_id)), notice: { kind: 'bad', text } });
    },
  }),
  page({
    method: 'post',
    path: '/app/tasks/move',
    access: 'task.write',
    form: z.object({ to: Move, back: z.string().max(2_000).optional() }),
    async handle({ ctx, form: { to, back } }) {
      const { status, version, task_id } = to;
      const after = await updateTask(ctx, task_id, { status, version });
      const undo = after === version ? undefined : { kind: 'revert_tasks' as const, tasks: [[task_id, after] as Changed] };
      return { to: backPath(back, itemPath(task_id)), notice: { kind: 'good', text: `Moved to ${MOVED[status]}`, undo } };
    },
    onError: ({ form }, { message, changedSince }) => {
      const text = changedSince ? 'The task has changed since you opened the page, so it stays where it is.' : message;
      return Promise.resolve({ to: backPath(form['back'], '/app'), notice: { kind: 'bad', text } });
    },
  }),
];
