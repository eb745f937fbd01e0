import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** Newest comments of a task that an answer has. */
const MAX_COMMENTS = 20;

/** $1 = task id, $2 = row limit. The newest comments, replies too; `total`: of all. */
const statement = defineStatement({
  name: 'mcp_recent_comments',
  text: /* sql */ `
    select c.comment_id, c.parent_comment_id, c.author_id, c.content, c.created_at, count(*) over ()::int as total
    from comments c where c.task_id = $1 and c.deleted_at is null
    order by c.created_at desc, c.comment_id desc limit $2`,
});

interface Row extends Record<string, unknown> {
  comment_id: string;
  parent_comment_id: string | null;
  author_id: string;
  content: string;
  created_at: Date;
  total: number;
}

/** Returns the newest 20 comments of a task, oldest of them first, and how many there are. The caller has checked access. */
export async function readRecentComments(ctx: Context, taskId: string): Promise<Record<string, unknown>> {
  const rows = await run<Row>(ctx.db, statement, [taskId, MAX_COMMENTS]);
  const comments = rows
    .toReversed()
    .map(({ total: _total, created_at, ...comment }) => ({ ...comment, created_at: created_at.toISOString() }));
  return { comments, comment_count: rows[0]?.total ?? 0 };
}
