import type { Logger } from '../../api/core/telemetry/log.js';
import { type Loop, startLoop } from './loop.js';

/** Between two passes: only a terminated or a timed-out workflow can leave something behind meanwhile. */
const PERIOD_MS = 600_000;
/** Until a pass is repeated that failed, or that was the first after a connection: it may have met what was just under way. */
const REPEAT_MS = 30_000;

export interface Reconciler {
  /** Temporal can be reached again, perhaps with another store: runs a first pass at once. */
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
