import type { Context } from '../../platform/context.js';
import type { ItemType } from '../graph/item-place.js';
import type { SearchResult } from './schema.js';
import { searchItems } from './search-items.js';

/** Items that are suggested at once. */
const MAX_SUGGESTED = 8;
/** Results among which items of the wanted type are looked for. */
const LOOKED_AT = 24;

/** Which items can be meant: of one type or all, but not the one that is named from. */
export interface Sought {
  itemId: string;
  type?: ItemType | undefined;
}

/**
 * Suggests items for what is typed of a name, best first: a number such as `HAR-12`, or words of the title or text.
 * @throws INTERNAL_ERROR 503 after one second of searching
 */
export async function suggestItems(ctx: Context, query: string, { itemId, type }: Sought): Promise<SearchResult[]> {
  const { results } = await searchItems(ctx, { query, limit: LOOKED_AT });
  return results
    .filter((one) => one.item_id !== itemId && (type === undefined || one.item_type === type))
    .slice(0, MAX_SUGGESTED);
}
