import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { Differences } from '../../platform/changes/record-change.js';

/**
 * $1 = id, $2 = version, $3 = type, $4 = caller id. The differences of the change that led to a version, if it is one of the newest of the item and the
 * caller is a member of its team.
 */
const statement = defineStatement({
  name: 'changes_of_version',
  text: /* sql */ `
    select u.details->'changes' as changes from (
      select a.details::jsonb as details from audit_entries a
      where a.team_id = (
          select p.team_id from item_place p join memberships m on m.team_id = p.team_id and m.user_id = $4::uuid where p.item_id = $1
        )
        and a.entity_id = $1 and a.entity_type = $3 and a.action = 'update' and a.feature <> 'custom_fields'
      order by a.timestamp desc limit 60
    ) u
    where (u.details->>'version')::int = $2::int limit 1`,
});

/** An item and its version after a change. */
export interface ItemVersion {
  type: 'task' | 'project';
  id: string;
  version: number;
}

/** Returns what a change of an item replaced, from its audit entry; null if there is none that the caller may know. */
export async function changesOfVersion(ctx: Context, { type, id, version }: ItemVersion): Promise<Differences | null> {
  const [row] = await run<{ changes: Differences }>(ctx.db, statement, [id, version, type, requireUser(ctx)]);
  return row?.changes ?? null;
}

/** Returns the values before a change of those fields that `isKept` accepts. */
export const valuesBefore = (changes: Differences, isKept: (field: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([field, change]) => (isKept(field) && 'from' in change ? [[field, change.from]] : [])),
  );
