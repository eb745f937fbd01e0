import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type Koa from 'koa';

const folder = join(process.env['DATA_DIR'] ?? '.data', 'baseline-files');

/** Stores a body as it arrives, with its digest, durably: what an upload costs without form, permissions and rows. */
async function store(request: IncomingMessage): Promise<{ file_id: string; sha256: string }> {
  await mkdir(folder, { recursive: true });
  const file_id = randomUUID();
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const file = await open(join(folder, `${file_id}.part`), 'wx');
  await writeFile(file, hashed());
  await file.sync();
  await file.close();
  await rename(join(folder, `${file_id}.part`), join(folder, file_id));
  return { file_id, sha256: hash.digest('hex') };
}

/** Baseline of `/api/files`: POST stores the body, GET streams it. */
export async function handleFile(ctx: Koa.Context): Promise<unknown> {
  if (ctx.method === 'POST') return store(ctx.req);
  const path = join(folder, ctx.path.slice('/api/files/'.length));
  ctx.set('Content-Length', String((await stat(path)).size));
  return createReadStream(path);
}
