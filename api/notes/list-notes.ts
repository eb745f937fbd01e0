import { run } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { checkReadableProject } from './check-readable-project.js';
import { noteStatements } from './list-notes.sql.js';
import type { ListNotes, NoteSummary } from './schema.js';

type Row = Omit<NoteSummary, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date };

/**
 * Lists live notes without their texts, oldest first: of a project, of a team, or of all the caller's teams. Another team's `team_id`
 * returns an empty list.
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 */
export async function listNotes(ctx: Context, { team_id, project_id, q, limit, offset }: ListNotes): Promise<NoteSummary[]> {
  if (project_id !== undefined) await checkReadableProject(ctx, project_id);
  const statements = noteStatements[project_id === undefined ? 'teams' : 'project'];
  const place = [userOf(ctx), project_id ?? team_id ?? null, limit, offset];
  const rows = q ? await run<Row>(ctx.db, statements.matching, [...place, q]) : await run<Row>(ctx.db, statements.all, place);
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }));
}
