import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { recordLink } from './record-link.js';
import type { ForgeLink, LinkIssue } from '../schema.js';

/** Keeps the task from being deleted until the commit. */
const lockTaskStatement = defineStatement({
  name: 'lock_task_to_link',
  text: 'select title, team_id, project_id from tasks where task_id = $1 and deleted_at is null for key share',
});
/** $1 = task id, $2 = repository, $3 = issue number. Returns a row if the link is new. */
const insertStatement = defineStatement({
  name: 'insert_issue_link',
  text: /* sql */ `
    insert into forge_links (task_id, repo, kind, number) values ($1, $2, 'issue', $3)
    on conflict (repo, kind, number, task_id) do nothing returning 1`,
});
/** $1 = task id, $2 = repository, $3 = issue number. */
const readStatement = defineStatement({
  name: 'read_issue_link',
  text: `select url from forge_links where task_id = $1 and repo = $2 and kind = 'issue' and number = $3`,
});

/**
 * Links a live task to an issue of a repository, bound or not; returns an existing link unchanged.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED non-member or guest
 */
export function linkIssue(
  ctx: Context,
  taskId: string,
  { repo, issue_number: number }: LinkIssue,
): Promise<{ created: boolean; link: ForgeLink }> {
  return inTransaction(ctx, async (ctx) => {
    const [task] = await run<{ title: string; team_id: string; project_id: string }>(ctx.db, lockTaskStatement, [taskId]);
    if (!task) throw notFound('Task');
    authorize('forge.link', await findSeat(ctx, task.team_id));
    const inserted = await run(ctx.db, insertStatement, [taskId, repo, number]);
    const [stored] = await run<{ url: string | null }>(ctx.db, readStatement, [taskId, repo, number]);
    const link = { task_id: taskId, repo, kind: 'issue' as const, number, url: stored?.url ?? null };
    if (inserted.length === 0) return { created: false, link };
    await recordLink(ctx, { task_id: taskId, ...task }, { change: 'linked', repo, number, kind: 'issue' });
    return { created: true, link };
  });
}
