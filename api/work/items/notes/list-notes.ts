import { run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { checkReadableProject } from './check-readable-project.js';
import { noteStatements } from './list-notes.sql.js';
import type { ListNotes, NoteSummary } from './schema.js';

type Row = Omit<NoteSummary, 'note_id' | 'created_at' | 'updated_at'> & {
  note_id: string | null;
  created_at: Date;
  updated_at: Date;
  cut: boolean;
};

const present = ({
  note_id,
  title,
  team_id,
  project_id,
  kind,
  created_by,
  created_at,
  updated_at,
  version,
}: Row): NoteSummary => ({
  note_id: note_id as string,
  title,
  team_id,
  project_id,
  kind,
  created_by,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
  version,
});

/**
 * Lists live notes without their texts, oldest first: of a project, of a team, or of all the caller's teams. Another team's `team_id`
 * returns an empty list. With `q`, notes beyond the first 16 MiB of texts are omitted and the page is marked as truncated.
 * @throws RESOURCE_NOT_FOUND unknown project | PERMISSION_DENIED a project of another team
 */
export async function listNotes(ctx: Context, { team_id, project_id, q, limit, offset }: ListNotes): Promise<CutPage> {
  if (project_id !== undefined) await checkReadableProject(ctx, project_id);
  const statements = noteStatements[project_id === undefined ? 'teams' : 'project'];
  const place = [requireUser(ctx), project_id ?? team_id ?? null, limit + 1, offset];
  const rows = q ? await run<Row>(ctx.db, statements.matching, [...place, q]) : await run<Row>(ctx.db, statements.all, place);
  const notes = rows.filter(({ note_id }) => note_id !== null);
  const shown = notes.slice(0, limit).map(present);
  const more = notes.length > limit;
  return { body: JSON.stringify(shown), count: shown.length, more, truncated: !more && rows[0]?.cut === true };
}
