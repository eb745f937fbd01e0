import { run } from '../../../db/statement.js';
import { authorize, rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { type ItemType, findPlaces } from '../graph/item-place.js';
import { listRelationsStatement, MAX_LISTED } from './list-relations.sql.js';
import { edgesShownAs, effectiveType, type End, type RelationKind, type RelationType } from './rules.js';
import type { ItemRelation } from './schema.js';

interface Row extends Record<string, unknown> {
  relation_id: string;
  source_id: string;
  target_id: string;
  relation_type: RelationType;
  kind: RelationKind;
  at_end: End;
  created_by: string;
  created_at: Date;
  far_id: string;
  far_type: ItemType;
  far_title: string;
  far_status: string;
}

const present = (itemId: string, row: Row): ItemRelation => ({
  relation_id: row.relation_id,
  source_id: row.source_id,
  target_id: row.target_id,
  relation_type: row.relation_type,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  direction: row.source_id === itemId ? 'out' : 'in',
  effective_type: effectiveType(row.kind, row.at_end, row.relation_type),
  item: { item_type: row.far_type, item_id: row.far_id, title: row.far_title, status: row.far_status },
});

interface Filter {
  relation_type?: RelationType | undefined;
  direction?: 'out' | 'in' | undefined;
}

/** Edges of an item, and whether the limit cut them. */
export interface RelationList {
  relations: ItemRelation[];
  truncated: boolean;
}

/**
 * Lists the edges of a live item from both directions, oldest first, at most 10,000. Omits ends that are in the trash or that the caller may
 * not read. Children are the edges shown as `parent_child`, parents those shown as `belongs_to`.
 * @throws RESOURCE_NOT_FOUND unknown or in the trash | PERMISSION_DENIED not a member
 */
export async function listRelations(ctx: Context, itemId: string, filter: Filter = {}): Promise<RelationList> {
  const item = (await findPlaces(ctx, [itemId])).get(itemId);
  if (!item) throw notFound('Work item');
  authorize('item.read', await findSeat(ctx, item.team_id));
  const { kind = null, end = null } = filter.relation_type ? edgesShownAs(filter.relation_type) : {};
  const values = [itemId, requireUser(ctx), rolesFor('item.read'), kind, end, filter.direction ?? null];
  const rows = await run<Row>(ctx.db, listRelationsStatement, values);
  return { relations: rows.slice(0, MAX_LISTED).map((row) => present(itemId, row)), truncated: rows.length > MAX_LISTED };
}
