import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Readable by this service alone. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: FOLDER_MODE });

/**
 * Writes bytes to a new file as they arrive, and calls `use` with it. Removes the file afterwards, if it is still there. `sync` waits until
 * the disk has it.
 * @throws what `bytes` or `use` throws
 */
export async function spool(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { sync }: { sync: boolean },
  use: (path: string) => Promise<void>,
): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    try {
      await writeFile(file, bytes);
      if (sync) await file.sync();
    } finally {
      await file.close();
    }
    await use(path);
  } finally {
    await rm(path, { force: true });
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Resolves to undefined if the file or folder does not exist. @throws every other error */
export const unlessMissing = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** Removes files of a folder that nothing wrote since a moment. Returns their number. */
export async function removeOldFiles(folder: string, before: Date): Promise<number> {
  let removed = 0;
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    const path = join(folder, name);
    const found = await unlessMissing(stat(path));
    if (!found || found.mtimeMs > before.getTime()) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
