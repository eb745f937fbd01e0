import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * An S3-compatible object store on a free port: path style, AWS Signature Version 4 checked from the published algorithm and not with the
 * library that signs, objects streamed to a folder. It knows the four operations that the product uses.
 */

const ACCESS_KEY_ID = 'test-access-key';
const SECRET = 'test-secret-key/with+signs';
const REGION = 'eu-test-1';
const BUCKET = 'assent-test';
const MAX_CLOCK_SKEW_MS = 15 * 60_000;

export interface S3Server {
  /** Settings of the product for this store. */
  settings: Record<string, string>;
  /** Keys in the bucket. */
  keys: () => string[];
  /** Puts an object there without the product. */
  plant: (key: string, content: string) => Promise<void>;
  /** Answers the next requests with this status. */
  failNext: (status: number, times: number) => void;
  /** Requests so far, such as `PUT files/0a…`. */
  requests: string[];
  close: () => void;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** @throws Refusal as the published algorithm wants it */
function checkSignature(request: IncomingMessage, url: URL): void {
  const { headers } = request;
  const header = headers.authorization ?? '';
  const [, id, date = '', region = '', names = '', given = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? [];
  if (id !== ACCESS_KEY_ID || region !== REGION) throw new Refusal(403, 'InvalidAccessKeyId');
  const signed = names.split(';');
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!signed.includes(name)) throw new Refusal(403, 'AccessDenied');
  const stamp = String(headers['x-amz-date']);
  const at = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < MAX_CLOCK_SKEW_MS) || !stamp.startsWith(date)) throw new Refusal(403, 'RequestTimeTooSkewed');
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted();
  const canonical = [
    request.method,
    url.pathname.split('/').map(decodeURIComponent).map(encode).join('/'),
    query.join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const key = [date, region, 's3', 'aws4_request'].reduce<Buffer | string>((so, part) => hmac(so, part), `AWS4${SECRET}`);
  const expected = hmac(key, ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n'));
  if (!timingSafeEqual(expected, Buffer.from(given, 'hex'))) throw new Refusal(403, 'SignatureDoesNotMatch');
}

/** The bucket as a folder; a key is a file name. */
class Bucket {
  readonly folder = mkdtempSync(join(tmpdir(), 'assent-s3-'));
  private writes = 0;
  readonly buildPath = (key: string) => join(this.folder, encodeURIComponent(key));
  readonly keys = () =>
    readdirSync(this.folder)
      .filter((name) => !name.startsWith('.'))
      .map(decodeURIComponent)
      .toSorted();

  async put(key: string, body: AsyncIterable<Buffer>, size: number, digest: string | undefined): Promise<void> {
    const part = join(this.folder, `.part-${(this.writes += 1)}`);
    const hash = createHash('sha256');
    let received = 0;
    const measured = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        received += chunk.length;
        done(null, chunk);
      },
    });
    await pipeline(body, measured, createWriteStream(part));
    if (received !== size) throw new Refusal(400, 'IncompleteBody');
    if (digest !== undefined && hash.digest('hex') !== digest) throw new Refusal(400, 'XAmzContentSHA256Mismatch');
    renameSync(part, this.buildPath(key));
  }

  list(url: URL): string {
    const [prefix, after] = ['prefix', 'start-after'].map((name) => url.searchParams.get(name) ?? '') as [string, string];
    const found = this.keys().filter((key) => key.startsWith(prefix) && key > after);
    const page = found.slice(0, Math.min(1000, Number(url.searchParams.get('max-keys') ?? 1000)));
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const entries = page.map(
      (key) =>
        `<Contents><Key>${escaped(key)}</Key><LastModified>${statSync(this.buildPath(key)).mtime.toISOString()}</LastModified></Contents>`,
    );
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${page.length < found.length}</IsTruncated>${entries.join('')}</ListBucketResult>`;
  }
}

function sendObject(path: string, range: string | undefined, response: ServerResponse): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Refusal(404, 'NoSuchKey');
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (first === undefined || last === undefined) {
    response.writeHead(200, { 'content-length': size });
    createReadStream(path).pipe(response);
    return;
  }
  if (Number(first) >= size) throw new Refusal(416, 'InvalidRange');
  const end = Math.min(Number(last), size - 1);
  response.writeHead(206, { 'content-length': end - Number(first) + 1, 'content-range': `bytes ${first}-${end}/${size}` });
  createReadStream(path, { start: Number(first), end }).pipe(response);
}

async function handle(bucket: Bucket, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  checkSignature(request, url);
  const [, name, ...rest] = url.pathname.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  if (name !== BUCKET) throw new Refusal(404, 'NoSuchBucket');
  if (request.method === 'GET' && key === '') {
    response.end(bucket.list(url));
    return;
  }
  if (request.method === 'GET') {
    sendObject(bucket.buildPath(key), request.headers.range, response);
    return;
  }
  if (request.method === 'PUT') {
    if (request.headers['content-length'] === undefined) throw new Refusal(411, 'MissingContentLength');
    const digest = request.headers['x-amz-content-sha256'] as string;
    await bucket.put(key, request, Number(request.headers['content-length']), digest === 'UNSIGNED-PAYLOAD' ? undefined : digest);
  } else if (request.method === 'DELETE') {
    rmSync(bucket.buildPath(key), { force: true });
    response.statusCode = 204;
  } else throw new Refusal(405, 'MethodNotAllowed');
  response.end();
}

/** Starts an empty store. */
export async function startS3Server(): Promise<S3Server> {
  const bucket = new Bucket();
  const requests: string[] = [];
  let failure = { status: 0, times: 0 };
  const refuse = (response: ServerResponse, status: number, code: string) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    requests.push(`${request.method} ${url.pathname.slice(BUCKET.length + 2)}`);
    if (failure.times > 0) {
      failure.times -= 1;
      request.resume();
      refuse(response, failure.status, 'InternalError');
      return;
    }
    handle(bucket, request, response, url).catch((error: unknown) => {
      request.resume();
      if (error instanceof Refusal) refuse(response, error.status, error.code);
      else response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    settings: {
      FILE_STORE: 's3',
      S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      S3_BUCKET: BUCKET,
      S3_REGION: REGION,
      S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      S3_SECRET_ACCESS_KEY: SECRET,
    },
    keys: bucket.keys,
    plant: (key, content) =>
      bucket.put(
        key,
        (async function* () {
          yield Buffer.from(content);
        })(),
        Buffer.byteLength(content),
        undefined,
      ),
    failNext: (status, times) => (failure = { status, times }),
    requests,
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(bucket.folder, { recursive: true, force: true });
    },
  };
}
