import { createHash } from 'node:crypto';
import { run, type Statement } from '../../../db/statement.js';
import { authorize } from '../../core/access.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { conflict, DomainError, invalidFields } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { seatInTeam } from '../../core/seats.js';
import { fileStore } from '../../files/store/file-store.js';
import { newObjectKey } from '../../files/store/object-store.js';
import { HEAD_BYTES, isCompressed } from '../formats/input.js';
import { lockPlace } from '../jobs/place.js';
import { recordJobChange } from '../jobs/record-job-change.js';
import type { BulkUpload } from '../import/schema.js';
import { FILE_DAYS } from '../rules.js';

/** Bytes of one upload. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024;
/** Uploads that a team may keep at the same time. */
const MAX_UPLOADS = 10;

/** $1 = team id. */
const countStatement: Statement = {
  name: 'count_bulk_uploads',
  text: 'select count(*)::int as count from bulk_uploads u where u.team_id = $1 and u.expires_at > now()',
};

/** $1 = id, $2 = team id, $3 = user id, $4 = size, $5 = SHA-256, $6 = object key, $7 = days. */
const insertStatement: Statement = {
  name: 'insert_bulk_upload',
  text: /* sql */ `
    insert into bulk_uploads (file_id, team_id, uploaded_by, size, sha256, object_key, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7))`,
};

/** @throws RESOURCE_CONFLICT */
async function checkCount({ db }: Context, teamId: string): Promise<void> {
  const [row] = await run<{ count: number }>(db, countStatement, [teamId]);
  if ((row?.count ?? 0) < MAX_UPLOADS) return;
  throw conflict(`The team has ${MAX_UPLOADS} uploads; each is removed after ${FILE_DAYS} days`);
}

/** Passes bytes on while measuring them. @throws UNSUPPORTED_MEDIA_TYPE compressed */
function measure(source: AsyncIterable<Buffer>) {
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
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: bytes(), result: () => ({ size, sha256: hash.digest('hex') }) };
}

/**
 * Stores the input of an import, for a week. The bytes are in the store before the row exists; what fails leaves nothing.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below manager | RESOURCE_CONFLICT too many uploads | UNSUPPORTED_MEDIA_TYPE
 * compressed | PAYLOAD_TOO_LARGE | VALIDATION_ERROR empty | INVALID_REQUEST incomplete
 */
export async function uploadInput(ctx: Context, teamId: string, source: AsyncIterable<Buffer>): Promise<BulkUpload> {
  authorize('bulk.run', await seatInTeam(ctx, teamId));
  await checkCount(ctx, teamId);
  const store = fileStore(ctx.config);
  const key = newObjectKey();
  const { bytes, result } = measure(source);
  await store.put(key, bytes);
  const { size, sha256 } = result();
  const file_id = newId();
  try {
    if (size === 0) throw invalidFields([{ field: 'body', message: 'The body is empty', type: 'too_small' }]);
    await inTransaction(ctx, async (ctx) => {
      authorize('bulk.run', await seatInTeam(ctx, teamId));
      await lockPlace(ctx, teamId);
      await checkCount(ctx, teamId);
      await run(ctx.db, insertStatement, [file_id, teamId, userOf(ctx), size, sha256, key, FILE_DAYS]);
      await recordJobChange(ctx, { job_id: file_id, team_id: teamId }, 'create', { details: { size, sha256 } });
    });
  } catch (error) {
    if (error instanceof DomainError) await store.remove(key);
    throw error;
  }
  return { file_id, size, sha256 };
}
