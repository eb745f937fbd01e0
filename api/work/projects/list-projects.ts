import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { PROJECT_JSON } from './project-json.js';
import type { ListProjects } from './schema.js';

/** $1 = caller id, $2 = team id or null, $3 = row limit, $4 = offset. */
const statement = defineStatement({
  name: 'list_projects',
  text: /* sql */ `
    select ${PROJECT_JSON}::text as json
    from memberships m join projects p on p.team_id = m.team_id
    where m.user_id = $1 and ($2::uuid is null or m.team_id = $2) and p.deleted_at is null
    order by p.created_at, p.project_id limit $3 offset $4`,
});

/** $1 = caller id, $2 = team id or null. */
const countStatement = defineStatement({
  name: 'count_projects',
  text: /* sql */ `
    select count(*) as total from memberships m join projects p on p.team_id = m.team_id
    where m.user_id = $1 and ($2::uuid is null or m.team_id = $2) and p.deleted_at is null`,
});

/** Lists the live projects of the caller's teams, oldest first, each as JSON text. */
export async function listProjects(ctx: Context, { team_id, limit, offset }: ListProjects): Promise<string[]> {
  const rows = await run<{ json: string }>(ctx.db, statement, [requireUser(ctx), team_id ?? null, limit, offset]);
  return rows.map((row) => row.json);
}

/** Counts the projects over all pages. */
export async function countProjects(ctx: Context, { team_id }: Pick<ListProjects, 'team_id'>): Promise<number> {
  const [row] = await run<{ total: number }>(ctx.db, countStatement, [requireUser(ctx), team_id ?? null]);
  return row?.total ?? 0;
}
