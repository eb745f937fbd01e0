import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { unavailable } from '../../../../platform/errors.js';
import { type ListedObject, MAX_LISTED, type ObjectStore } from './object-store.js';
import { makeFolder, removeOldFiles, spool, unlessMissing } from './spool.js';

/** Objects are spread over folders by so many first characters of their keys. */
const SHARD_LENGTH = 2;

/** Waits until the disk has the names in a folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Maps a full disk to a 503. */
const unlessFull = (error: unknown): never => {
  const { code = '' } = error as NodeJS.ErrnoException;
  throw ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE'].includes(code) ? unavailable(error) : error;
};

/** Keeps objects as files below one folder. Several processes may share it. */
export class DiskStore implements ObjectStore {
  private readonly objects: string;
  private readonly unfinished: string;

  constructor(folder: string) {
    this.objects = join(folder, 'objects');
    this.unfinished = join(folder, 'unfinished');
  }

  private readonly buildPath = (key: string): string => join(this.objects, key.slice(0, SHARD_LENGTH), key);

  async put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.buildPath(key);
    await makeFolder(this.unfinished).catch(unlessFull);
    await spool(join(this.unfinished, key), bytes, { sync: true }, async (written) => {
      // Returns the first folder that it had to create.
      const created = await makeFolder(dirname(path));
      await rename(written, path);
      await syncFolder(dirname(path));
      if (created !== undefined) await syncFolder(this.objects);
      if (created !== undefined && created !== dirname(path)) await syncFolder(dirname(this.objects));
    }).catch(unlessFull);
  }

  async get(key: string, range?: { first: number; last: number }): Promise<Readable | undefined> {
    const file = await unlessMissing(open(this.buildPath(key), 'r')).catch(unlessFull);
    return file?.createReadStream(range ? { start: range.first, end: range.last } : {});
  }

  async remove(key: string): Promise<void> {
    await rm(this.buildPath(key), { force: true });
  }

  async list(after: string): Promise<ListedObject[]> {
    const listed: ListedObject[] = [];
    const shards = ((await unlessMissing(readdir(this.objects))) ?? []).toSorted();
    for (const shard of shards.filter((name) => name >= after.slice(0, SHARD_LENGTH))) {
      const keys = ((await unlessMissing(readdir(join(this.objects, shard)))) ?? []).filter((key) => key > after).toSorted();
      for (const key of keys.slice(0, MAX_LISTED - listed.length)) {
        const found = await unlessMissing(stat(join(this.objects, shard, key)));
        if (found) listed.push({ key, modifiedAt: found.mtime });
      }
      if (listed.length >= MAX_LISTED) break;
    }
    return listed;
  }

  removeUnfinished(before: Date): Promise<number> {
    return removeOldFiles(this.unfinished, before);
  }
}
