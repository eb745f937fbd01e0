import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';

/** $1 = project id, $2 = user id. */
const statement = defineStatement({
  name: 'role_in_project',
  text: /* sql */ `
    select (select m.role from memberships m where m.team_id = p.team_id and m.user_id = $2) as seat
    from projects p where p.project_id = $1 and p.deleted_at is null`,
});

/**
 * Checks the project by which a list of items is filtered.
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 */
export async function checkReadableProject(ctx: Context, projectId: string): Promise<void> {
  const [project] = await run<{ seat: Seat | null }>(ctx.db, statement, [projectId, requireUser(ctx)]);
  if (!project) throw notFound('Project');
  authorize('item.read', project.seat);
}
