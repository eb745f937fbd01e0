import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/** Writes a file as JSON that does not exist yet, and waits until it is on disk. Only its owner can read it. @throws EEXIST */
export function writeNewPrivate(path: string, content: object): void {
  const file = openSync(path, 'wx', PRIVATE_FILE);
  try {
    writeSync(file, JSON.stringify(content));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Replaces a file as a whole: a crash leaves the old one or the new one. */
export function replacePrivate(path: string, content: object): void {
  const next = `${path}.${process.pid}.new`;
  rmSync(next, { recursive: true, force: true });
  writeNewPrivate(next, content);
  renameSync(next, path);
}
