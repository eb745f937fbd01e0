import { defineStatement, run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { PROJECT_JSON } from './project-json.js';

/** $1 = project id, $2 = caller id. */
const statement = defineStatement({
  name: 'get_project',
  text: /* sql */ `
    select ${PROJECT_JSON}::text as json, m.role as seat
    from projects p left join memberships m on m.team_id = p.team_id and m.user_id = $2
    where p.project_id = $1 and p.deleted_at is null`,
});

/**
 * Returns one live project as JSON text.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED not a member
 */
export async function getProject(ctx: Context, projectId: string): Promise<string> {
  const [row] = await run<{ json: string; seat: Seat | null }>(ctx.db, statement, [projectId, requireUser(ctx)]);
  if (!row) throw notFound('Project');
  authorize('project.read', row.seat);
  return row.json;
}
