import { defineStatement, run } from '../../../../db/statement.js';
import { Id, NO_ID } from '../../../platform/fields.js';
import type { Batch } from './batch.js';

/**
 * $1 = project ids, $2 = team id. Live projects of the team, locked against deletion until the commit. In id order, which prevents deadlocks.
 * Other teams' projects are neither locked nor found.
 */
const statement = defineStatement({
  name: 'projects_of_import',
  text: /* sql */ `
    select p.project_id from projects p where p.project_id = any($1::uuid[]) and p.team_id = $2 and p.deleted_at is null
    order by p.project_id for key share`,
});

/** Returns those projects that rows name, by their ids in the file, that are live projects of the team. */
export async function placesOfProjects(
  { ctx, refs, team_id, project_id }: Batch,
  named: Iterable<string | null | undefined>,
): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const ref of named) {
    const id = ref == null ? project_id : Id.parse(refs.getId(['project'], ref));
    if (id !== null && id !== NO_ID) ids.add(id);
  }
  if (ids.size === 0) return ids;
  const rows = await run<{ project_id: string }>(ctx.db, statement, [[...ids], team_id]);
  return new Set(rows.map((row) => row.project_id));
}
