import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileStore } from '../../../../../api/work/items/files/store/file-store.js';
import { newObjectKey, type ObjectStore } from '../../../../../api/work/items/files/store/object-store.js';
import { testConfig } from '../../../../support/app.js';
import { type S3Server, startS3Server } from '../../../../support/s3-server.js';
import { randomContent, sha256 } from './world.js';

/** Both stores, held to the same table. */

let s3: S3Server;
let folder: string;
const stores: Record<string, ObjectStore> = {};
beforeAll(async () => {
  s3 = await startS3Server();
  folder = mkdtempSync(join(tmpdir(), 'assent-stores-'));
  const open = (name: string, settings: Record<string, string>) =>
    fileStore(testConfig('postgresql://localhost/none', join(folder, name), settings));
  stores['disk'] = open('disk', {});
  stores['s3'] = open('s3', s3.settings);
  stores['wrong key'] = open('wrong', { ...s3.settings, S3_SECRET_ACCESS_KEY: 'another' });
});
afterAll(() => {
  s3.close();
  rmSync(folder, { recursive: true, force: true });
});

const readBytes = async (stream: Readable | undefined): Promise<Buffer | undefined> =>
  stream && Buffer.concat(await stream.toArray());
const computeDigest = async (stream: Readable | undefined) => sha256((await readBytes(stream)) as Buffer);
const chunks = (...parts: Buffer[]) => Readable.from(parts);

async function allKeys(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for (let page = await store.list(''); page.length > 0; page = await store.list(page.at(-1)?.key as string))
    keys.push(...page.map(({ key }) => key));
  return keys;
}

describe.each(['disk', 's3'])('the store on %s', (name) => {
  const store = () => stores[name] as ObjectStore;

  it('returns what it was given, whole and in parts', async () => {
    const [key, content] = [newObjectKey(), randomContent(200_000)];
    await store().put(key, chunks(content.subarray(0, 1), content.subarray(1, 70_000), content.subarray(70_000)));
    expect(await computeDigest(await store().get(key))).toBe(sha256(content));
    expect(await computeDigest(await store().get(key, { first: 0, last: 0 }))).toBe(sha256(content.subarray(0, 1)));
    expect(await computeDigest(await store().get(key, { first: 65_535, last: 199_999 }))).toBe(sha256(content.subarray(65_535)));
  });

  it('keeps an empty object', async () => {
    const key = newObjectKey();
    await store().put(key, chunks());
    expect(await readBytes(await store().get(key))).toEqual(Buffer.alloc(0));
  });

  it('has nothing of an object whose bytes broke off', async () => {
    const key = newObjectKey();
    async function* broken() {
      yield randomContent(100_000);
      throw new Error('the client left');
    }
    await expect(store().put(key, broken())).rejects.toThrow('the client left');
    expect(await store().get(key)).toBeUndefined();
    expect(await readdir(join(folder, name, 'files', 'unfinished'))).toEqual([]);
  });

  it('removes an object, and one that is not there', async () => {
    const key = newObjectKey();
    await store().put(key, chunks(Buffer.from('x')));
    await store().remove(key);
    await store().remove(key);
    expect(await store().get(key)).toBeUndefined();
    expect(await store().get(key, { first: 0, last: 0 })).toBeUndefined();
  });

  it('lists every key once, in order and with its time', async () => {
    for (const key of await allKeys(store())) await store().remove(key);
    const keys = Array.from({ length: 30 }, newObjectKey);
    await Promise.all(keys.map((key) => store().put(key, chunks(Buffer.from(key)))));
    expect(await allKeys(store())).toEqual(keys.toSorted());
    const [first] = await store().list('');
    expect(Math.abs(Date.now() - (first?.modifiedAt.getTime() ?? 0))).toBeLessThan(60_000);
    expect(await store().list(keys.toSorted().at(-2) as string)).toMatchObject([{ key: keys.toSorted().at(-1) }]);
  });

  it('keeps objects apart that are written at the same time', async () => {
    const written = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const [key, content] = [newObjectKey(), randomContent(150_000)];
        await store().put(key, chunks(content.subarray(0, 90_000), content.subarray(90_000)));
        return { key, content };
      }),
    );
    for (const { key, content } of written) expect(await computeDigest(await store().get(key))).toBe(sha256(content));
  });

  it('removes what crashes have left, and not what is being written', async () => {
    const unfinished = join(folder, name, 'files', 'unfinished');
    const [old, fresh] = [join(unfinished, newObjectKey()), join(unfinished, newObjectKey())];
    await writeFile(old, 'half');
    await writeFile(fresh, 'half');
    const yesterday = Date.now() / 1000 - 90_000;
    utimesSync(old, yesterday, yesterday);
    expect(await store().removeUnfinished(new Date(Date.now() - 86_400_000))).toBe(1);
    expect(await readdir(unfinished)).toHaveLength(1);
    rmSync(fresh);
  });
});

describe('the store on s3', () => {
  const store = () => stores['s3'] as ObjectStore;

  it('repeats a request that the store failed, and gives up with a 503', async () => {
    const key = newObjectKey();
    s3.failNext(503, 2);
    await store().put(key, chunks(Buffer.from('twice')));
    expect(await readBytes(await store().get(key))).toEqual(Buffer.from('twice'));
    s3.failNext(500, 3);
    await expect(store().get(key)).rejects.toMatchObject({ status: 503 });
  });

  it('does not repeat what the store refuses, and tells the caller nothing of it', async () => {
    const before = s3.requests.length;
    const refused = await (stores['wrong key'] as ObjectStore).get(newObjectKey()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 503, message: 'Service temporarily unavailable' });
    expect(String((refused as Error).cause)).toContain('SignatureDoesNotMatch');
    expect(s3.requests.length).toBe(before + 1);
  });

  it('leaves other objects of the bucket alone', async () => {
    await s3.plant('backups/dump & <more>', 'theirs');
    expect((await allKeys(store())).every((key) => /^[0-9a-f]{32}$/.test(key))).toBe(true);
  });

  it('lists more than a page', async () => {
    const before = (await allKeys(store())).length;
    for (let i = 0; i < 1005; i += 1) await s3.plant(`files/zz-${String(i).padStart(5, '0')}`, '');
    expect(await allKeys(store())).toHaveLength(before + 1005);
  });
});
