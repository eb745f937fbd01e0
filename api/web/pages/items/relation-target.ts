import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { searchItems } from '../../../work/search/search-items.js';

/** An item that a typed name can mean. */
export interface RelationChoice {
  item_id: string;
  title: string;
  about: string;
}

const MAX_CHOICES = 8;

/** Returns the id in the address of an item's page; undefined for other texts. */
function idInAddress(text: string): string | undefined {
  const [, part] = /\/app\/(?:items|projects)\/([^/?#\s]+)/.exec(text) ?? [];
  try {
    return part && decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/**
 * Finds the item that a user named by its address, its id or words of its title. Several matches come back as choices.
 * @throws VALIDATION_ERROR at the field `target` without a match | INTERNAL_ERROR 503 after one second of searching
 */
export async function findRelationTarget(ctx: Context, text: string, itemId: string): Promise<string | RelationChoice[]> {
  const id = idInAddress(text) ?? text;
  // Whether the caller may read it, the operation says.
  if (/^[\w.:@-]{1,128}$/.test(id) && (await findPlaces(ctx, [id])).has(id)) return id;
  const { results } = await searchItems(ctx, { query: text, limit: MAX_CHOICES + 1 });
  const others = results.filter((result) => result.item_id !== itemId).slice(0, MAX_CHOICES);
  const same = others.filter(({ title }) => title.toLowerCase() === text.toLowerCase());
  const [only] = same.length === 1 ? same : others.length === 1 ? others : [];
  if (only) return only.item_id;
  if (others.length === 0) throw invalidFields([{ field: 'target', message: `No item matches “${text}”`, type: 'custom' }]);
  return others.map(({ item_id, title, item_type, project_name }) => ({
    item_id,
    title,
    about: project_name ? `${item_type} · ${project_name}` : item_type,
  }));
}
