import type { Logger } from '../../api/core/telemetry/log.js';
import { type Loop, startLoop } from './loop.js';

/** Interval between passes: in between, only terminated or timed-out workflows can be lost. */
const PERIOD_MS = 600_000;
/** Delay before repeating a failed pass, or the first one after a connection, which may have met work in progress. */
const REPEAT_MS = 30_000;

export interface Reconciler {
  /** Temporal is available again, perhaps with another store: runs a first pass at once. */
  connected: () => void;
  stop: () => Promise<void>;
}

/**
 * Runs the reconciler after each connection and every ten minutes.
 * @param reconcile one pass; `isFirst`: the first that succeeds after a connection
 */
export function startReconciler(reconcile: (isFirst: boolean) => Promise<unknown>, log: Logger): Reconciler {
  let isFirst = false;
  let repeat: NodeJS.Timeout | undefined;
  const pass = async (): Promise<number> => {
    const wasFirst = isFirst;
    isFirst = false;
    let isDone = false;
    try {
      await reconcile(wasFirst);
      isDone = true;
    } finally {
      isFirst ||= wasFirst && !isDone;
      clearTimeout(repeat);
      if (wasFirst || !isDone) repeat = setTimeout(() => loop.wake(), REPEAT_MS).unref();
    }
    return 0;
  };
  const loop: Loop = startLoop('reconciler', pass, PERIOD_MS, log);
  return {
    connected() {
      isFirst = true;
      loop.wake();
    },
    async stop() {
      await loop.stop();
      clearTimeout(repeat);
    },
  };
}
