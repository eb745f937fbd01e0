import { createHash } from 'node:crypto';
import { defineStatement, run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { conflict, DomainError, invalidFields } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { fileStore } from '../../work/items/files/store/file-store.js';
import { newObjectKey } from '../../work/items/files/store/object-store.js';
import { HEAD_BYTES, isCompressed } from '../formats/input.js';
import { lockSlot } from '../jobs/slot.js';
import { recordJobChange } from '../jobs/record-job-change.js';
import type { BulkUpload } from '../import/schema.js';
import { FILE_DAYS } from '../rules.js';

/** Bytes of one upload. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024;
/** Uploads that a team may keep at the same time. */
const MAX_UPLOADS = 10;
/** Bytes of them together. */
const MAX_TEAM_BYTES = 4 * 1024 * 1024 * 1024;

/** Uploads of a team that a process takes at the same time. */
const MAX_AT_ONCE = 2;
const underWay = new Map<string, number>();

/** Calls `work` unless the team has too many uploads under way: what arrives counts only when it is complete. @throws RESOURCE_CONFLICT */
async function inPlace<T>(teamId: string, work: () => Promise<T>): Promise<T> {
  const count = underWay.get(teamId) ?? 0;
  if (count >= MAX_AT_ONCE) throw conflict(`The team has ${MAX_AT_ONCE} uploads under way; wait until one is complete`);
  underWay.set(teamId, count + 1);
  try {
    return await work();
  } finally {
    const left = (underWay.get(teamId) ?? 1) - 1;
    if (left > 0) underWay.set(teamId, left);
    else underWay.delete(teamId);
  }
}

/** $1 = team id. */
const countStatement = defineStatement({
  name: 'count_bulk_uploads',
  text: /* sql */ `
    select count(*)::int as count, coalesce(sum(size), 0)::float8 as bytes
    from bulk_uploads u where u.team_id = $1 and u.expires_at > now()`,
});

/** $1 = id, $2 = team id, $3 = user id, $4 = size, $5 = SHA-256, $6 = object key, $7 = days. */
const insertStatement = defineStatement({
  name: 'insert_bulk_upload',
  text: /* sql */ `
    insert into bulk_uploads (file_id, team_id, uploaded_by, size, sha256, object_key, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7))`,
});

const tooLarge = () =>
  conflict(`The uploads of the team would be larger than 4 GB together; each is removed after ${FILE_DAYS} days`);

/** Checks that the team may keep one more upload of this size. Returns the bytes that it may have. @throws RESOURCE_CONFLICT */
async function checkRoom({ db }: Context, teamId: string, size: number): Promise<number> {
  const [row] = await run<{ count: number; bytes: number }>(db, countStatement, [teamId]);
  const { count, bytes } = row ?? { count: 0, bytes: 0 };
  if (count >= MAX_UPLOADS) throw conflict(`The team has ${MAX_UPLOADS} uploads; each is removed after ${FILE_DAYS} days`);
  if (bytes + size > MAX_TEAM_BYTES) throw tooLarge();
  return MAX_TEAM_BYTES - bytes;
}

/** Passes up to `room` bytes on while measuring them. @throws UNSUPPORTED_MEDIA_TYPE compressed | RESOURCE_CONFLICT more bytes */
function measure(source: AsyncIterable<Buffer>, room: number) {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)]);
      if (isCompressed(head)) {
        throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The file is compressed', { detail: 'Send the text of the file.' });
      }
      size += chunk.length;
      if (size > room) throw tooLarge();
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: bytes(), result: () => ({ size, sha256: hash.digest('hex') }) };
}

/**
 * Stores the input of an import, for a week. The bytes are in the store before the row exists; what fails leaves nothing.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT too many uploads, or too many bytes, or two under way | UNSUPPORTED_MEDIA_TYPE
 * compressed | PAYLOAD_TOO_LARGE | VALIDATION_ERROR empty | INVALID_REQUEST incomplete
 */
export async function uploadInput(ctx: Context, teamId: string, source: AsyncIterable<Buffer>): Promise<BulkUpload> {
  authorize('bulk.run', await seatInTeam(ctx, teamId));
  return inPlace(teamId, () => store(ctx, teamId, source));
}

/** @throws as `uploadInput` */
async function store(ctx: Context, teamId: string, source: AsyncIterable<Buffer>): Promise<BulkUpload> {
  const room = await checkRoom(ctx, teamId, 0);
  const objects = fileStore(ctx.config);
  const key = newObjectKey();
  const { bytes, result } = measure(source, room);
  await objects.put(key, bytes);
  const { size, sha256 } = result();
  const file_id = newId();
  try {
    if (size === 0) throw invalidFields([{ field: 'body', message: 'The body is empty', type: 'too_small' }]);
    await inTransaction(ctx, async (ctx) => {
      authorize('bulk.run', await seatInTeam(ctx, teamId));
      await lockSlot(ctx, teamId);
      await checkRoom(ctx, teamId, size);
      await run(ctx.db, insertStatement, [file_id, teamId, requireUser(ctx), size, sha256, key, FILE_DAYS]);
      await recordJobChange(ctx, { job_id: file_id, team_id: teamId }, 'create', { details: { size, sha256 } });
    });
  } catch (error) {
    if (error instanceof DomainError) await objects.remove(key);
    throw error;
  }
  return { file_id, size, sha256 };
}
