import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type ByteRange, type ListedObject, MAX_LISTED, type ObjectStore } from './object-store.js';
import { S3Client, type S3Settings } from './s3-client.js';
import { makeFolder, removeOldFiles, spool } from './spool.js';

/** Separates our objects from others in the bucket. */
const PREFIX = 'files/';

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const decoded = (xml: string): string => xml.replace(/&(amp|lt|gt|quot|apos);/g, (_all, name: string) => ENTITIES[name] ?? '');

const readXmlValue = (xml: string, tag: string): string => decoded(new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1] ?? '');

/** Reads the objects of a ListObjectsV2 response; their keys without the prefix. */
const objectsIn = (xml: string): ListedObject[] =>
  [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = '']) => ({
    key: readXmlValue(entry, 'Key').slice(PREFIX.length),
    modifiedAt: new Date(readXmlValue(entry, 'LastModified')),
  }));

/**
 * Keeps objects in a bucket. A PUT needs the size and the digest before the first byte, so an upload waits in a file of the folder
 * `spoolFolder` until it is complete; an interrupted one never reaches the bucket.
 */
export class S3Store implements ObjectStore {
  private readonly client: S3Client;

  constructor(
    settings: S3Settings,
    private readonly spoolFolder: string,
  ) {
    this.client = new S3Client(settings);
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await makeFolder(this.spoolFolder);
    const hash = createHash('sha256');
    let size = 0;
    async function* measured() {
      for await (const chunk of bytes) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    }
    await spool(join(this.spoolFolder, key), measured(), { sync: false }, async (path) => {
      const body = { size, sha256: hash.digest('hex'), open: () => createReadStream(path) };
      const response = await this.client.send({ method: 'PUT', key: PREFIX + key, body, expected: [200] });
      await response.body.dump();
    });
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const response = await this.client.send({
      method: 'GET',
      key: PREFIX + key,
      ...(range && { headers: { range: `bytes=${range.first}-${range.last}` } }),
      expected: [range ? 206 : 200, 404],
    });
    if (response.statusCode === 404) {
      await response.body.dump();
      return undefined;
    }
    // A reader that leaves early makes the body fail, which nobody may be listening for.
    return response.body.on('error', () => undefined);
  }

  async remove(key: string): Promise<void> {
    const response = await this.client.send({ method: 'DELETE', key: PREFIX + key, expected: [200, 204, 404] });
    await response.body.dump();
  }

  async list(after: string): Promise<ListedObject[]> {
    const query = { 'list-type': '2', prefix: PREFIX, 'max-keys': String(MAX_LISTED), 'start-after': PREFIX + after };
    const response = await this.client.send({ method: 'GET', key: '', query, expected: [200] });
    return objectsIn(await response.body.text());
  }

  removeUnfinished(before: Date): Promise<number> {
    return removeOldFiles(this.spoolFolder, before);
  }
}
