import type { Logger } from '../../api/core/telemetry/log.js';

export interface Loop {
  /** There may be work: start a pass now, or another one after the present one. */
  wake: () => void;
  /** Lets the present pass end, then no more. */
  stop: () => Promise<void>;
}

/**
 * Runs `pass` when woken, and every `everyMs` in any case. Passes never overlap; while a pass finds work another follows at
 * once. A pass that throws is logged and tried again after the pause.
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
        log.error({ err: error, loop: name }, 'pass failed; trying again');
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

/** Returns a call that is made once for all that ask for it within `ms`, at their end. */
export function throttleTrailing(call: () => void, ms: number): () => void {
  let waiting: NodeJS.Timeout | undefined;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      call();
    }, ms);
  };
}
