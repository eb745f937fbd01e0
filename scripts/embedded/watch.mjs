/** Tells when a source file changes. */
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './settings.mjs';

const SOURCE_DIRS = ['api', 'workflows', 'activities', 'db', 'scripts'];
/** Editors write a file in several steps, and people save several files at once. */
const QUIET_MS = 150;

/**
 * Calls `onChange` after each burst of changes below the source directories; bursts during a call are joined into one more call.
 * @param {(files: string[]) => Promise<void>} onChange paths relative to the checkout
 * @returns {() => void} ends it
 */
export function watchSources(onChange) {
  let changed = new Set();
  let busy = false;
  let timer = null;
  const flush = async () => {
    if (busy || changed.size === 0) return;
    busy = true;
    const files = [...changed];
    changed = new Set();
    await onChange(files).finally(() => {
      busy = false;
    });
    void flush();
  };
  const watchers = SOURCE_DIRS.filter((dir) => existsSync(join(root, dir))).map((dir) =>
    watch(join(root, dir), { recursive: true }, (_event, file) => {
      if (!file || !/\.(ts|json)$/.test(file)) return;
      changed.add(join(dir, file));
      clearTimeout(timer);
      timer = setTimeout(() => void flush(), QUIET_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
