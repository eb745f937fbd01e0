import type { Logger } from '../../api/platform/telemetry/log.js';

export interface Loop {
  /** Starts a pass now, or another one after the current pass. */
  wake: () => void;
  /** Ends the loop after the current pass. */
  stop: () => Promise<void>;
}

/**
 * Runs `pass` when woken, and at least every `everyMs`. Passes never overlap; another follows at once while a pass finds work. A
 * failed pass is logged and retried after the interval.
 */
export function startLoop(name: string, pass: () => Promise<number>, everyMs: number, log: Logger): Loop {
  let stopped = false;
  let woken = false;
  let wakeUp: () => void = () => undefined;
  const rest = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const done = (async () => {
    while (!stopped) {
      woken = false;
      let found = 0;
      try {
        found = await pass();
      } catch (error) {
        log.error({ err: error, loop: name }, 'pass failed; retrying');
        woken = false;
      }
      if (found === 0 && !woken && !stopped) await rest();
    }
  })();
  return {
    wake() {
      woken = true;
      wakeUp();
    },
    async stop() {
      stopped = true;
      wakeUp();
      await done;
    },
  };
}

/** Throttles calls to one per interval, at its end. */
export function throttleTrailing(call: () => void, ms: number): () => void {
  let waiting: NodeJS.Timeout | undefined;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      call();
    }, ms);
  };
}
