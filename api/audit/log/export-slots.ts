import { busy } from '../../platform/errors.js';

/** Exports, and correlations, of one user at the same time, in one process; others wait (docs/decisions/audit.md#audit-exports). */
const AT_ONCE = 2;
/** Those of one user that may wait, and for how long, ms. */
const MAX_WAITING = 20;
const SLOT_TIMEOUT_MS = 10_000;

interface Line {
  running: number;
  waiting: (() => void)[];
}

const lines = new Map<string, Line>();

/**
 * Waits until the user may start an export, so that nobody keeps a process busy with exports alone. Call the result when it is over.
 * @throws INTERNAL_ERROR 503 with Retry-After if too many wait, or for too long
 */
export async function takeExportSlot(userId: string): Promise<() => void> {
  const line = lines.get(userId) ?? { running: 0, waiting: [] };
  lines.set(userId, line);
  if (line.running >= AT_ONCE) {
    if (line.waiting.length >= MAX_WAITING) throw busyExporting();
    await new Promise<void>((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(admit), 1);
        reject(busyExporting());
      }, SLOT_TIMEOUT_MS);
      line.waiting.push(admit);
    });
  } else line.running += 1;
  let released = false;
  return () => {
    if (released) return;
    released = true;
    // The slot passes on to the next one.
    const next = line.waiting.shift();
    if (next) next();
    else if ((line.running -= 1) === 0) lines.delete(userId);
  };
}

const busyExporting = () => busy(new Error('Too many exports of one user'));
