import type { Readable } from 'node:stream';
import { Item } from '../../../../db/models/item.js';
import { StoredFile } from '../../../../db/models/stored-file.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { findSeat } from '../../../platform/access/seats.js';
import { fileStore } from './store/file-store.js';
import type { ByteRange } from './store/object-store.js';

/** A live file with bytes. */
export interface FoundFile {
  item: Item;
  stored: StoredFile;
}

/**
 * Finds a live file with bytes.
 * @throws RESOURCE_NOT_FOUND no such file, or an item that was created without an upload | PERMISSION_DENIED not a member
 */
export async function findFile(ctx: Context, fileId: string): Promise<FoundFile> {
  const item = await Item.query(ctx.db).findById(fileId).where({ item_type: 'file' }).modify('live');
  if (!item) throw notFound('File');
  authorize('item.read', await findSeat(ctx, item.team_id));
  const stored = await StoredFile.query(ctx.db).findById(fileId);
  if (!stored) throw notFound('File', { detail: 'Its item was created without an upload, so there is nothing to download.' });
  return { item, stored };
}

/**
 * Opens the bytes of a file. Once opened, they can be read to the end whatever happens to the file.
 * @throws RESOURCE_NOT_FOUND purged since it was found | INTERNAL_ERROR the store has lost it
 */
export async function openFile(ctx: Context, { stored }: FoundFile, range?: ByteRange): Promise<Readable> {
  const bytes = await fileStore(ctx.config).get(stored.object_key, range);
  if (bytes) return bytes;
  if (!(await StoredFile.query(ctx.db).findById(stored.item_id))) throw notFound('File');
  throw new Error(`The object of file ${stored.item_id} is not in the store`);
}
