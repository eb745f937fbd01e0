import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../exit.js';

const CHUNK_BYTES = 1_048_576;
const MAX_FOLDER_FILES = 2_000;
const MAX_FOLDER_BYTES = 268_435_456;

export interface HashedFile {
  /** Without links. */
  path: string;
  sha256: string;
  size: number;
}

export interface HashedFolder extends HashedFile {
  files: number;
}

/** What was hashed, and how to tell later that nobody touched it. */
export interface Hashed<T extends HashedFile = HashedFile> {
  /** As it was named, which may be a link. */
  given: string;
  hashed: T;
  /** Undefined if only the content tells. */
  identity: string | undefined;
}

export const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');

/** A clock of files moves every few ms, so a file that was written just now may be written again at the same time. */
const SETTLED_NS = 100_000_000n;

/** A program can set the other times of a file, and not the time of its last change. */
const identify = (stats: BigIntStats): string | undefined =>
  BigInt(Date.now()) * 1_000_000n - stats.ctimeNs < SETTLED_NS
    ? undefined
    : [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');

/** Reads an open file to its end, whatever was read of it before. */
export async function hashOpenFile(handle: FileHandle, given: string): Promise<Hashed> {
  // Before the content: what is written meanwhile must not pass for what was read.
  const identity = identify(await handle.stat({ bigint: true }));
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let size = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, size);
    if (bytesRead === 0) return { given, identity, hashed: { path: await realpath(given), sha256: hash.digest('hex'), size } };
    hash.update(chunk.subarray(0, bytesRead));
    size += bytesRead;
  }
}

/** Hashes a file. A pipe that took its place is not waited for. @throws what the system says, or EINVAL for a pipe or a device */
async function hashFile(given: string): Promise<Hashed> {
  const handle = await open(given, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw Object.assign(new Error(`${given} is no file`), { code: 'EINVAL', path: given });
    return await hashOpenFile(handle, given);
  } finally {
    await handle.close();
  }
}

/** Files, links and folders below a folder, sorted by their paths. Links are not followed. */
async function listFolder(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** What a path is: the text that is hashed for it, and its bytes. */
async function describeEntry(path: string): Promise<{ digest: string; size: number; mode: string }> {
  const stats = await lstat(path);
  const mode = stats.mode.toString(8);
  if (stats.isFile()) {
    const { sha256: digest, size } = (await hashFile(path)).hashed;
    return { digest, size, mode };
  }
  return { digest: stats.isSymbolicLink() ? sha256(await readlink(path)) : '-', size: 0, mode };
}

/**
 * Hashes a folder: for each path below it one line with mode, hash and path, sorted by path. A link counts with its target's name.
 * @throws {Failure} more than 2,000 paths, or 256 MB
 */
async function hashFolder(given: string): Promise<Hashed<HashedFolder>> {
  const root = await realpath(given);
  const paths = await listFolder(root);
  if (paths.length > MAX_FOLDER_FILES)
    throw new Failure('usage', `${given} has ${paths.length} files, and a folder that is bound has at most ${MAX_FOLDER_FILES}`);
  const hash = createHash('sha256');
  let total = 0;
  for (const each of paths) {
    const { digest, size, mode } = await describeEntry(each);
    total += size;
    if (total > MAX_FOLDER_BYTES)
      throw new Failure('usage', `${given} has more than 256 MB, the most that a bound folder may have`);
    hash.update(`${mode} ${digest} ${JSON.stringify(relative(root, each))}\n`);
  }
  const hashed = { path: root, sha256: hash.digest('hex'), size: total, files: paths.length };
  return { given, hashed, identity: undefined };
}

/** Hashes a file or a folder. @throws {Failure} the folder is too large @throws what the system says */
export const hashPath = async (given: string): Promise<Hashed<HashedFile | HashedFolder>> =>
  (await stat(given)).isDirectory() ? hashFolder(given) : hashFile(given);

/** Whether a path is still what was hashed. A file that nobody touched is not read again. */
export async function isSame({ given, hashed, identity }: Hashed<HashedFile | HashedFolder>): Promise<boolean> {
  try {
    if (identity !== undefined && identity === identify(await stat(given, { bigint: true }))) return true;
    const now = (await hashPath(given)).hashed;
    return now.path === hashed.path && now.sha256 === hashed.sha256;
  } catch {
    return false;
  }
}
