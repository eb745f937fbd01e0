import { SavedView } from '../../../db/models/saved-view.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { present } from './present.js';
import { IS_VISIBLE, viewerValues } from './read-view.js';
import type { ListSavedViews, SavedViewRecord } from './schema.js';

/** $3 = team id, $4 = entity type, each null for all, $5 = row limit, $6 = offset. */
const statement = defineStatement({
  name: 'list_saved_views',
  text: /* sql */ `
    select v.* from (
      select o.* from saved_views o where o.owner_id = $1
      union all
      select s.* from memberships m join saved_views s on s.team_id = m.team_id and s.is_shared and s.owner_id <> $1 where m.user_id = $1
    ) v
    where ${IS_VISIBLE} and ($3::uuid is null or v.team_id = $3) and ($4::text is null or v.entity_type = $4)
    order by v.created_at, v.view_id limit $5 offset $6`,
});

/** Lists the caller's views and those shared with them, oldest first. Another team's list is empty. */
export async function listViews(
  ctx: Context,
  { team_id, entity_type, limit, offset }: ListSavedViews,
): Promise<SavedViewRecord[]> {
  const rows = await run(ctx.db, statement, [...viewerValues(ctx), team_id ?? null, entity_type ?? null, limit, offset]);
  return rows.map((row) => present(SavedView.fromDatabaseJson(row)));
}
