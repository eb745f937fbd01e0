import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Verdict } from '../invariants.js';
import { SECRET } from '../world.js';

const isGone = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

/** Returns whether a file holds a text, also over two blocks of the read. False for a file that was deleted meanwhile. */
async function holds(file: string, text: string): Promise<boolean> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
      const read = rest + String(chunk);
      if (read.includes(text)) return true;
      rest = read.slice(-text.length + 1);
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return false;
}

/** Judges all files of a copy: logs, the histories of workflows, the database's own. */
export async function judgeFiles(dir: string): Promise<Verdict> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const violations: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    if (await holds(file, SECRET)) violations.push(relative(dir, file));
  }
  const words = 'The value of a secret is in no log, no history of a workflow and no file of the database';
  return { name: 'secret_in_no_file', words, violations: violations.slice(0, 20), skipped: null };
}
