import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import type { TaskFollowers } from './schema.js';

interface Row extends Record<string, unknown> {
  seat: Seat | null;
  followers: TaskFollowers['followers'];
}

/** $1 = task id, $2 = caller id. The caller's role in the team of a live task, and the members who hear of it, by name. */
const statement = defineStatement({
  name: 'task_followers',
  text: /* sql */ `
    select (select m.role from memberships m where m.team_id = t.team_id and m.user_id = $2) as seat,
      array(
        select jsonb_build_object('user_id', u.user_id, 'display_name', u.display_name)
        from task_audience(t.task_id, t.team_id, t.created_by, t.assigned_to) as h(user_id)
        join memberships m on m.team_id = t.team_id and m.user_id = h.user_id join users u on u.user_id = h.user_id
        order by u.display_name, u.user_id
      ) as followers
    from tasks t where t.task_id = $1 and t.deleted_at is null`,
});

/**
 * Returns who hears of a live task, and whether the caller does.
 * @throws RESOURCE_NOT_FOUND no live task | PERMISSION_DENIED not a member
 */
export async function getFollowers(ctx: Context, taskId: string): Promise<TaskFollowers> {
  const me = requireUser(ctx);
  const [row] = await run<Row>(ctx.db, statement, [taskId, me]);
  if (!row) throw notFound('Task');
  authorize('task.read', row.seat);
  return { follows: row.followers.some(({ user_id }) => user_id === me), followers: row.followers };
}
