import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat } from '../../../platform/access/seats.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { loadTask } from '../../comments/load-task.js';
import { getFollowers } from './get-followers.js';
import type { TaskFollowers } from './schema.js';

/** Followers of a task, besides its creator and its assignee: a comment writes a notice for each. The trigger `follower_has_room` holds the limit. */
const MAX_FOLLOWERS = 100;

/** $1 = task id, $2 = user id, $3 = whether they follow it. No row: as many follow it as may. */
const followStatement = defineStatement({
  name: 'follow_task',
  text: /* sql */ `
    insert into task_followers as f (task_id, user_id, follows) values ($1, $2::uuid, $3::boolean)
    on conflict (task_id, user_id) do update set follows = excluded.follows, since = case when f.follows = excluded.follows then f.since else now() end
    returning true as stored`,
});

/** $1 = task id, $2 = user ids. A choice that a user has made stays. */
const followSilentlyStatement = defineStatement({
  name: 'follow_commented_task',
  text: /* sql */ `
    insert into task_followers (task_id, user_id, follows) select $1, u.user_id, true from unnest($2::uuid[]) as u(user_id)
    where coalesce(current_setting('assent.import', true), '') = '' order by u.user_id on conflict do nothing`,
});

/**
 * Lets the caller hear of a live task from now on, or no more. Not audited, because it affects nobody else.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED not a member | RESOURCE_CONFLICT too many follow it
 */
export function followTask(ctx: Context, taskId: string, follows: boolean): Promise<TaskFollowers> {
  return inTransaction(ctx, async (ctx) => {
    const task = await loadTask(ctx, taskId);
    authorize('task.follow', await findSeat(ctx, task.team_id));
    const stored = await run(ctx.db, followStatement, [taskId, requireUser(ctx), follows]);
    if (stored.length === 0) throw conflict(`At most ${MAX_FOLLOWERS} users follow a task`);
    return getFollowers(ctx, taskId);
  });
}

/**
 * Lets users whom a comment made part of a task follow it, unless they have chosen otherwise, as far as there is room. An import lets nobody follow
 * (docs/decisions/work.md#followers).
 */
export async function followCommented({ db }: Pick<Context, 'db'>, taskId: string, userIds: readonly string[]): Promise<void> {
  await run(db, followSilentlyStatement, [taskId, userIds]);
}
