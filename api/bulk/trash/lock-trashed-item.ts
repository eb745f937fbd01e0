import { Item } from '../../../db/models/item.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Ability, authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { conflict, notInTrash } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { getName, type StoredType } from '../../work/items/rules.js';

/**
 * Locks an item in the trash until the commit.
 * @throws RESOURCE_NOT_FOUND unknown, live or of another type | PERMISSION_DENIED the ability
 */
export async function lockTrashedItem(ctx: Context, type: StoredType, itemId: string, ability: Ability): Promise<Item> {
  const item = await Item.query(ctx.db).findById(itemId).where({ item_type: type }).forUpdate();
  if (!item) throw notInTrash(getName(type));
  authorize(ability, await findSeat(ctx, item.team_id));
  if (item.deleted_at === null) throw notInTrash(getName(type));
  return item;
}

/** $1 = item id. Deleting the project waits for the commit. Lock order: projects, then items. */
const statement = defineStatement({
  name: 'project_of_trashed_item',
  text: /* sql */ `
    select p.project_id, p.name, p.deleted_at is not null as in_trash
    from projects p where p.project_id = (select i.project_id from items i where i.item_id = $1) for key share of p`,
});

/** The project of an item, locked against deletion; undefined if it has none. */
export interface ItemProject extends Record<string, unknown> {
  project_id: string;
  name: string;
  in_trash: boolean;
}

/** Locks the project of an item against deletion until the commit, before the item. */
export async function lockProjectOfItem(ctx: Context, itemId: string): Promise<ItemProject | undefined> {
  const [project] = await run<ItemProject>(ctx.db, statement, [itemId]);
  return project;
}

/** @throws RESOURCE_CONFLICT the project is in the trash, or the item was moved while the lock was awaited */
export function checkLiveProject(project: ItemProject | undefined, item: Item): void {
  if ((project?.project_id ?? null) !== item.project_id) throw conflict('The item was moved at the same time; retry');
  if (project?.in_trash) throw conflict(`The project “${project.name}” is in the trash; restore it first`);
}
