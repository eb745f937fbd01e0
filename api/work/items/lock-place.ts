import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { forbidden, invalid, notFound } from '../../platform/errors.js';

/** A live project to which an item moves, with the caller's role in its team. */
export interface TargetProject extends Record<string, unknown> {
  team_id: string;
  seat: Seat | null;
}

/** $1 = project id, $2 = user id. */
const statement = defineStatement({
  name: 'project_of_moved_item',
  text: /* sql */ `
    with named as materialized (
      select p.project_id, p.team_id, (select m.role from memberships m where m.team_id = p.team_id and m.user_id = $2) as seat
      from projects p where p.project_id = $1 and p.deleted_at is null
    ), locked as materialized (
      select p.project_id from named n join projects p using (project_id) where n.seat is not null and p.deleted_at is null for key share of p
    )
    select n.team_id, n.seat from named n where n.seat is null or exists (select from locked)`,
});

/**
 * Locks the project to which an item moves until the commit, so that it cannot go to the trash without the item. Lock order: projects,
 * then items. Another team's project is not locked: the request may wait for an item meanwhile. Undefined if there is no such live project.
 */
export async function lockTargetProject(ctx: Context, projectId: string): Promise<TargetProject | undefined> {
  const [project] = await run<TargetProject>(ctx.db, statement, [projectId, requireUser(ctx)]);
  return project;
}

/** @throws RESOURCE_NOT_FOUND unknown | PERMISSION_DENIED not readable by the caller | INVALID_REQUEST of another team */
export function checkTargetProject(project: TargetProject | undefined, teamId: string): void {
  if (!project) throw notFound('Project');
  if (project.seat === null) throw forbidden('You are not a member of this team');
  if (project.team_id !== teamId) throw invalid('An item can only move between projects of its team');
}
