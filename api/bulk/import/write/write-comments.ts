import { Comment } from '../../../../db/models/comment.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { addComment } from '../../../work/comments/add-comment.js';
import { deleteComment } from '../../../work/comments/delete-comment.js';
import { editComment } from '../../../work/comments/edit-comment.js';
import { notFound } from '../../../platform/errors.js';
import { isUuid } from '../../../platform/ids.js';
import type { PreparedRow } from '../prepare/sorted-rows.js';
import type { Batch, Write } from './batch.js';
import { createdByJob } from './created-by-job.js';
import { knownRecords } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { Refusal, withSavepoint } from './savepoint.js';

/** $1 = task ids, $2 = team id. */
const tasksStatement = defineStatement({
  name: 'commented_tasks_of_import',
  text: 'select t.task_id from tasks t where t.task_id = any($1::text[]) and t.team_id = $2 and t.deleted_at is null',
});

/** Returns those of the tasks that are live and of the team. */
async function tasksOfTeam({ ctx, team_id }: Batch, ids: string[]): Promise<Set<string>> {
  const rows = await run<{ task_id: string }>(ctx.db, tasksStatement, [[...new Set(ids)], team_id]);
  return new Set(rows.map(({ task_id }) => task_id));
}

/** $1 = comment ids, $2 = job id. Those on tasks that the import has created, or brought back from an undo with their comments. */
const backStatement = defineStatement({
  name: 'comments_back_by_import',
  text: /* sql */ `
    select c.comment_id::text from comments c
    where c.comment_id = any($1::text[]::uuid[]) and exists (
      select from bulk_rows r where r.job_id = $2 and r.entity = 'task' and r.item_id = c.task_id and r.outcome = 'created')`,
});

/** Marks rows whose comments came back with their tasks: those are no conflict. */
async function shareReturned({ ctx, job_id, on_conflict }: Batch, rows: PreparedRow[]): Promise<PreparedRow[]> {
  if (on_conflict !== 'error') return rows;
  const ids = rows.flatMap(({ record }) => (isUuid(String(record['comment_id'])) ? [record['comment_id']] : []));
  const back = await run<{ comment_id: string }>(ctx.db, backStatement, [ids, job_id]);
  const returned = new Set<unknown>(back.map(({ comment_id }) => comment_id));
  return rows.map((row) => (returned.has(row.record['comment_id']) ? { ...row, shared: true as const } : row));
}

/** Writes comments, those without a parent before replies. Their author is the importer. */
export const writeComments: Write = async (batch, rows) => {
  const { refs } = batch;
  const listRefs = (field: string) => rows.map(({ record }) => record[field] as string | null | undefined);
  await refs.load(['task'], listRefs('task_id'));
  await refs.load(['comment'], listRefs('parent_comment_id'));
  const tasks = await tasksOfTeam(
    batch,
    listRefs('task_id').map((ref) => refs.getId(['task'], ref as string)),
  );
  return writeOneByOne(batch, await shareReturned(batch, rows), {
    kind: 'comment',
    name: 'comment',
    getRef: ({ comment_id }) => comment_id,
    getType: () => 'comment',
    find: (ids) => knownRecords(batch.ctx, 'comment', batch.team_id, ids),
    async create(ctx, { record }, id) {
      const { content, parent_comment_id: parent } = record;
      const taskId = refs.getId(['task'], record.task_id);
      if (!tasks.has(taskId)) throw notFound('Task');
      const parentId = parent == null ? null : refs.getId(['comment'], parent);
      await addComment(ctx, taskId, { content, parent_comment_id: parentId }, id);
      return { id, isNew: true };
    },
    async update(ctx, { record: { content } }, id) {
      const before = await Comment.query(ctx.db).findById(id);
      await editComment(ctx, id, { content });
      return before?.content !== content;
    },
  });
};

/** Deletes comments that are deleted in the file, when their replies are in. */
export const deleteComments: Write = async (batch, rows) => {
  const { ctx, refs, result } = batch;
  const named = rows.map((row) => ({ row, ref: row.record['comment_id'] as string }));
  await refs.load(
    ['comment'],
    named.map(({ ref }) => ref),
  );
  const created = await createdByJob(
    batch,
    'comment',
    named.map(({ ref }) => refs.getId(['comment'], ref)),
  );
  for (const { row, ref } of named) {
    const id = refs.getId(['comment'], ref);
    if (!created.has(id)) continue;
    const deleted = await withSavepoint(ctx, (ctx) => deleteComment(ctx, id));
    if (deleted instanceof Refusal) result.failed(row, deleted.message);
  }
};
