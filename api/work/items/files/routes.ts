import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../../../platform/context.js';
import { invalidFields } from '../../../platform/errors.js';
import { Bytes, type Endpoint, endpoint, type Reply, uploadEndpoint } from '../../../platform/endpoint/endpoint.js';
import { TrashedItem } from '../schema.js';
import { trashItem } from '../trash-item.js';
import type { FilePlace } from './check-upload.js';
import { downloadHeaders, sendBytes } from './download-headers.js';
import { findFile, openFile } from './get-file.js';
import { MAX_FILE_BYTES } from './rules.js';
import { FileParams, FileRecord, UploadFields, type UploadPlace, UploadQuery } from './schema.js';
import { uploadFile } from './upload-file.js';

const tag = 'Files';

/** Form and query are two places of one value, which no schema can say. */
const badField = (name: string, message: string) => invalidFields([{ field: `body.${name}`, message, type: 'custom' }]);

/** Merges form fields and query. @throws VALIDATION_ERROR no team, or two values for one field */
function getPlace(body: UploadPlace, query: UploadPlace): FilePlace {
  for (const name of ['team_id', 'project_id'] as const) {
    if (body[name] !== undefined && query[name] !== undefined && body[name] !== query[name])
      throw badField(name, `${name} differs from the query`);
  }
  const team_id = body.team_id ?? query.team_id;
  if (team_id === undefined) throw badField('team_id', 'team_id is required before the file, or in the query');
  return { team_id, project_id: body.project_id ?? query.project_id ?? null };
}

/** Returns the whole file, one range of it, or 304. @throws INVALID_REQUEST 416 a range outside of the file */
async function download(ctx: Context, fileId: string, headers: IncomingHttpHeaders): Promise<Reply> {
  const found = await findFile(ctx, fileId);
  const { size, sha256, content_type } = found.stored;
  const file = { size, sha256, headers: downloadHeaders(found.item.title, content_type) };
  return sendBytes(file, headers, (range) => openFile(ctx, found, range));
}

export const fileRoutes: Endpoint[] = [
  uploadEndpoint({
    id: 'uploadFile',
    method: 'post',
    path: '/api/files',
    tag,
    summary: 'Upload a file',
    description:
      'multipart/form-data with one part `file` of at most 25 MB (26,214,400 bytes), which may be empty. The fields come before the file or stand in the query. The name is the last path segment of the file name, without control characters. A team that exceeds its quota gets a 402; files in the trash count.',
    ability: 'item.write',
    scope: 'tasks:write',
    limit: 'file_upload',
    query: UploadQuery,
    body: UploadFields,
    upload: { maxBytes: MAX_FILE_BYTES },
    response: FileRecord,
    status: 201,
    errors: [402, 404],
    example: { team_id: '019a9f00-0000-7000-8000-000000000001', file: 'We ship on Friday.' },
    handle: ({ ctx, query, body, file }) => uploadFile(ctx, getPlace(body, query), file),
  }),
  endpoint({
    id: 'downloadFile',
    method: 'get',
    path: '/api/files/:file_id',
    tag,
    summary: 'Download a file',
    description:
      'Always an attachment, whatever its type. The ETag is the SHA-256 of the bytes: If-None-Match returns a 304, and If-Range continues a download. One range per request; several are ignored. A file item that was created without an upload is a 404.',
    ability: 'item.read',
    scope: 'tasks:read',
    params: FileParams,
    response: Bytes,
    download: true,
    etag: 'kept',
    alsoStatus: [206],
    errors: [404, 416],
    handle: ({ ctx, params, headers }) => download(ctx, params.file_id, headers),
  }),
  endpoint({
    id: 'deleteFile',
    method: 'delete',
    path: '/api/files/:file_id',
    tag,
    summary: 'Delete a file',
    description: 'Moves it to the trash, where it counts for the quota until it is purged.',
    ability: 'item.write',
    scope: 'tasks:write',
    params: FileParams,
    response: TrashedItem,
    errors: [404],
    handle: ({ ctx, params }) => trashItem(ctx, params.file_id, 'file'),
  }),
];
