import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, type TestApp } from '../../../../support/app.js';
import { checkAgainstDocument } from '../../../../support/contract-check.js';

/** One part of a form as it is sent. Without a file name it is a field. */
export interface Part {
  name: string;
  filename?: string;
  type?: string;
  content: string | Buffer;
  /** Replaces the Content-Disposition. */
  disposition?: string;
}

const BOUNDARY = 'XTESTX';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

const describeHead = ({ name, filename, type, disposition }: Part): string =>
  [
    `--${BOUNDARY}`,
    `Content-Disposition: ${disposition ?? `form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    '',
    '',
  ].join('\r\n');

/** Bytes of a form. */
export const buildForm = (parts: Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(describeHead(part)), Buffer.from(part.content), Buffer.from('\r\n')]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);

export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export interface UploadOptions {
  fields?: Record<string, string>;
  content?: string | Buffer;
  filename?: string;
  type?: string;
  query?: string;
  headers?: Record<string, string>;
}

/** Uploads a file with its fields before it. */
export function upload(
  app: TestApp,
  person: { token: string } | undefined,
  { fields = {}, content = 'hello', filename = 'note.txt', type = 'text/plain', query = '', headers = {} }: UploadOptions,
): Promise<Answer> {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => ({ name, content: value })),
    { name: 'file', filename, type, content },
  ];
  return uploadParts(app, person, parts, { query, headers });
}

/** Sends a form as it is given. */
export const uploadParts = (
  app: TestApp,
  person: { token: string } | undefined,
  parts: Part[],
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer> =>
  app
    .as(person)
    .post(`/api/files${query}`, undefined, { raw: buildForm(parts), headers: { 'content-type': FORM_TYPE, ...headers } });

export interface Download {
  status: number;
  headers: Headers;
  bytes: Buffer;
  // biome-ignore lint: a test reads whatever came back
  error: any; // oxlint-disable-line typescript/no-explicit-any
}

/** Downloads a file; `error` is the envelope of an error response. */
export async function download(
  app: TestApp,
  person: { token: string },
  fileId: string,
  headers: Record<string, string> = {},
): Promise<Download> {
  const path = `/api/files/${fileId}`;
  const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${person.token}`, ...headers } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const error = response.status >= 400 ? JSON.parse(bytes.toString('utf8')) : undefined;
  if (error) checkAgainstDocument('get', path, { status: response.status, headers: response.headers, body: error });
  return { status: response.status, headers: response.headers, bytes, error };
}

/** Keys of the objects on disk, and names of unfinished files. */
export async function onDisk(app: TestApp): Promise<{ objects: string[]; unfinished: string[] }> {
  const folder = join(app.services.config.DATA_DIR, 'files');
  const namesIn = (path: string) => readdir(path).catch((): string[] => []);
  const shards = await namesIn(join(folder, 'objects'));
  const objects = await Promise.all(shards.map((shard) => namesIn(join(folder, 'objects', shard))));
  return { objects: objects.flat(), unfinished: await namesIn(join(folder, 'unfinished')) };
}

/** Keys of objects without a row, and of rows without an object: both must be empty when nothing is under way. */
export async function strays(app: TestApp): Promise<{ orphans: string[]; lost: string[] }> {
  const { objects } = await onDisk(app);
  const keys = await app.services.db('files').pluck<string[]>('object_key');
  return { orphans: objects.filter((key) => !keys.includes(key)), lost: keys.filter((key) => !objects.includes(key)) };
}

/** Bytes that a team is charged for, and the sum of its rows. */
export async function readStorage(app: TestApp, teamId: string): Promise<{ charged: number; stored: number }> {
  const { db } = app.services;
  const row = await db('team_storage').where({ team_id: teamId }).first<{ bytes: number } | undefined>('bytes');
  const [sum] = await db('files as f')
    .join('items as i', 'i.item_id', 'f.item_id')
    .where('i.team_id', teamId)
    .sum('f.size as stored');
  return { charged: row?.bytes ?? 0, stored: Number(sum?.stored ?? 0) };
}

export const randomContent = (size: number): Buffer => randomBytes(size);
