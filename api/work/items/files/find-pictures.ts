import { StoredFile } from '../../../../db/models/stored-file.js';
import type { Context } from '../../../platform/context.js';
import { isPicture } from './rules.js';

/** Returns which files pages show as pictures, of those that the caller may read: ids that a list for the caller has named. */
export async function findPictures(ctx: Context, readableIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (readableIds.length === 0) return new Set();
  const rows = await StoredFile.query(ctx.db)
    .select('item_id', 'sniffed_type')
    .findByIds([...readableIds]);
  return new Set(rows.flatMap(({ item_id, sniffed_type }) => (isPicture(sniffed_type) ? [item_id] : [])));
}
