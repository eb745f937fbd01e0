import { createHash } from 'node:crypto';
import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { wasRolledBack } from '../../../platform/database/database-errors.js';
import { DomainError, invalidFields } from '../../../platform/errors.js';
import type { IncomingFile } from '../../../platform/endpoint/read-upload.js';
import { createItem, type LiveItem } from '../create-item.js';
import { checkUpload, defaultQuota, type FilePlace, quotaExceeded } from './check-upload.js';
import { cleanName, cleanType, SNIFFED_BYTES, sniffType } from './rules.js';
import type { FileRecord } from './schema.js';
import { fileStore } from './store/file-store.js';
import { newObjectKey } from './store/object-store.js';

/**
 * $1 = item id, $2 = team id, $3 = size, $4 = content type, $5 = sniffed type, $6 = SHA-256, $7 = object key, $8 = default quota. Counts
 * the file for its team and stores its row. No row: the quota does not allow it. The team's counter is locked last, for the time of one
 * commit.
 */
const statement = defineStatement({
  name: 'insert_file',
  text: /* sql */ `
    with counted as (
      insert into team_storage as s (team_id, bytes) select $2::uuid, $3::bigint where $3::bigint <= $8::bigint
        or exists (select from team_storage where team_id = $2::uuid)
      on conflict (team_id) do update set bytes = s.bytes + excluded.bytes
        where s.bytes + excluded.bytes <= coalesce(s.quota, $8::bigint)
      returning s.team_id
    )
    insert into files (item_id, size, content_type, sniffed_type, sha256, object_key)
    select $1, $3, $4, $5, $6, $7 from counted returning item_id`,
});

/** What is known of the bytes after they were read. */
interface FileFacts {
  size: number;
  sha256: string;
  sniffed_type: string | null;
}

/** Passes bytes on while measuring them. `result` is complete when all were read. @throws QUOTA_EXCEEDED beyond `left` bytes */
function measure(bytes: AsyncIterable<Buffer>, left: number): { bytes: AsyncIterable<Buffer>; result: () => FileFacts } {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  async function* measured() {
    for await (const chunk of bytes) {
      size += chunk.length;
      if (size > left) throw quotaExceeded();
      hash.update(chunk);
      if (head.length < SNIFFED_BYTES) head = Buffer.concat([head, chunk.subarray(0, SNIFFED_BYTES)]);
      yield chunk;
    }
  }
  return { bytes: measured(), result: () => ({ size, sha256: hash.digest('hex'), sniffed_type: sniffType(head) }) };
}

interface NewFile extends FileFacts {
  name: string;
  content_type: string;
  object_key: string;
}

const present = (item: LiveItem, { name, size, content_type, sha256 }: NewFile): FileRecord => ({
  file_id: item.item_id,
  name,
  size,
  content_type,
  sha256,
  team_id: item.team_id,
  project_id: item.project_id,
  created_at: item.created_at.toISOString(),
  download_url: `/api/files/${item.item_id}`,
});

/** Stores item and row of an object that is in the store. @throws as `createItem` | QUOTA_EXCEEDED */
function insertFile(ctx: Context, place: FilePlace, file: NewFile): Promise<FileRecord> {
  const { name, size, content_type, sniffed_type, sha256, object_key } = file;
  return inTransaction(ctx, async (ctx) => {
    const item = await createItem(ctx, {
      ...place,
      item_type: 'file',
      title: name,
      description: null,
      content: null,
      kind: null,
      status: 'active',
      fields: {},
      details: { size, content_type, sniffed_type, sha256 },
    });
    const values = [item.item_id, item.team_id, size, content_type, sniffed_type, sha256, object_key, defaultQuota(ctx)];
    const [stored] = await run(ctx.db, statement, values);
    if (!stored) throw quotaExceeded();
    return present(item, file);
  });
}

/** Returns whether nothing was committed for certain. After a lost connection it is unknown, and the sweep decides later. */
const isUncommitted = (error: unknown): boolean => {
  const { nativeError = error } = error as { nativeError?: unknown };
  return error instanceof DomainError || wasRolledBack(nativeError);
};

/**
 * Uploads a file: the bytes go to the store as they arrive, and only when it has them are the rows written. An upload that fails leaves
 * nothing.
 * @throws VALIDATION_ERROR no name | RESOURCE_NOT_FOUND no such project or team | PERMISSION_DENIED non-member or guest | INVALID_REQUEST
 * the project belongs to another team, or the body ends early | QUOTA_EXCEEDED | PAYLOAD_TOO_LARGE
 */
export async function uploadFile(ctx: Context, place: FilePlace, file: IncomingFile): Promise<FileRecord> {
  const left = await checkUpload(ctx, place);
  const name = cleanName(file.filename);
  if (name === '') throw invalidFields([{ field: 'body.file', message: 'file needs a file name', type: 'invalid_name' }]);
  const store = fileStore(ctx.config);
  const object_key = newObjectKey();
  const { bytes, result } = measure(file.bytes, left);
  await store.put(object_key, bytes);
  try {
    return await insertFile(ctx, place, { ...result(), name, content_type: cleanType(file.contentType), object_key });
  } catch (error) {
    const leave = (err: unknown) => ctx.log.warn({ err, object_key }, 'an object without a row waits for the sweep');
    if (isUncommitted(error)) await store.remove(object_key).catch(leave);
    throw error;
  }
}
