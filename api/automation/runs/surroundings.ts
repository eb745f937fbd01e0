import { Project } from '../../../db/models/project.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';

/** $1 = user id, $2 = caller id, $3 = team id or null. A user as a condition sees them, if the caller may know them. */
const actorStatement = defineStatement({
  name: 'actor_of_run',
  text: /* sql */ `
    select u.user_id, u.name, u.email from users u
    where u.user_id = $1::uuid
      and (u.user_id = $2::uuid or exists (select from memberships m where m.team_id = $3::uuid and m.user_id = u.user_id))`,
});

/** Where the event of a run happened. */
export interface JudgedEvent extends Record<string, unknown> {
  team_id: string | null;
  project_id: string | null;
}

/** Reads what a condition sees beside its event: the project, and who acted. */
export async function readSurroundings(
  ctx: Context,
  { team_id, project_id }: JudgedEvent,
  event: Readonly<Record<string, unknown>>,
): Promise<{ project: object | null; actor: object | null }> {
  const [actor] = await run(ctx.db, actorStatement, [event['actor_id'] ?? null, requireUser(ctx), team_id]);
  const project =
    project_id === null ? null : await Project.query(ctx.db).findById(project_id).select('project_id', 'name', 'status');
  return { project: project ?? null, actor: actor ?? null };
}
