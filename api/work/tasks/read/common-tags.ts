import { defineStatement, run } from '../../../../db/statement.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';

/** Tasks that are looked at, the newest first, and tags that are returned. */
const MAX_TASKS = 500;
const MAX_TAGS = 50;

/** $1 = project id, $2 = caller id, $3 = roles that may read, $4 = limit of tasks, $5 = limit of tags. */
const statement = defineStatement({
  name: 'common_tags',
  text: /* sql */ `
    select tag from (
      select t.tags from tasks t join memberships m on m.team_id = t.team_id and m.user_id = $2 and m.role = any($3::text[])
      where t.project_id = $1 and t.deleted_at is null order by t.created_at desc, t.task_id desc limit $4
    ) t, unnest(t.tags) tag group by tag order by count(*) desc, tag limit $5`,
});

/** Returns the tags that newer tasks of a project have, the most frequent first; none of a project that the caller may not read. */
export async function listCommonTags(ctx: Context, projectId: string): Promise<string[]> {
  const rows = await run<{ tag: string }>(ctx.db, statement, [
    projectId,
    requireUser(ctx),
    rolesFor('task.read'),
    MAX_TASKS,
    MAX_TAGS,
  ]);
  return rows.map(({ tag }) => tag);
}
