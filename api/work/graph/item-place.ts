import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/** The six types of work items. */
export const ITEM_TYPES = ['task', 'project', 'file', 'note', 'whiteboard', 'doc'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** Where a live item is. */
export interface ItemPlace extends Record<string, unknown> {
  item_id: string;
  item_type: ItemType;
  title: string;
  status: string;
  team_id: string;
  /** Null for an item of the team without a project; a project's own id for a project. */
  project_id: string | null;
}

/** $1 = item ids. */
const statement = defineStatement({
  name: 'item_places',
  text: /* sql */ `
    select found.item_id, found.item_type, found.title, found.status, found.team_id, found.project_id
    from unnest($1::text[]) as wanted(item_id)
    cross join lateral (select * from item_place p where p.item_id = wanted.item_id and p.deleted_at is null limit 1) found`,
});

/** Locates live items by id. Ids that are unknown or in the trash are absent from the result. */
export async function findPlaces(ctx: Context, itemIds: string[]): Promise<Map<string, ItemPlace>> {
  const rows = await run<ItemPlace>(ctx.db, statement, [itemIds]);
  return new Map(rows.map((row) => [row.item_id, row]));
}
