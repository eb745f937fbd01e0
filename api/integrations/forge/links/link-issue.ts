import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { recordLink } from './record-link.js';
import type { ForgeLink, LinkIssue } from '../schema.js';

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
    const task = await ctx
      .db('tasks')
      .where({ task_id: taskId })
      .whereNull('deleted_at')
      .forKeyShare()
      .first<{ title: string; team_id: string; project_id: string } | undefined>('title', 'team_id', 'project_id');
    if (!task) throw notFound('Task');
    authorize('forge.link', await findSeat(ctx, task.team_id));
    const key = { task_id: taskId, repo, kind: 'issue' as const, number };
    const [inserted] = await ctx
      .db('forge_links')
      .insert(key)
      .onConflict(['repo', 'kind', 'number', 'task_id'])
      .ignore()
      .returning('url');
    const stored = await ctx.db('forge_links').where(key).first<{ url: string | null } | undefined>('url');
    const link = { ...key, url: stored?.url ?? null };
    if (!inserted) return { created: false, link };
    await recordLink(ctx, { task_id: taskId, ...task }, { change: 'linked', repo, number, kind: 'issue' });
    return { created: true, link };
  });
}
