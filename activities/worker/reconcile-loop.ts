import type { Logger } from '../../api/platform/telemetry/log.js';
import { type Loop, startLoop } from './loop.js';

/** Interval between passes: a row that waits for a workflow which does not exist is found within it. */
const PERIOD_MS = 30_000;
/** Interval between full passes: in between, only a terminated or timed-out workflow of a paused or delayed run can be lost. */
const FULL_MS = 600_000;

/**
 * `first`: after a connection, perhaps with another store. `full`: compares every open run with its workflow. `brief`: looks only for runs that
 * nobody has begun. All passes look at all rows of the other kinds.
 */
export type PassKind = 'first' | 'full' | 'brief';

export interface Reconciler {
  /** Temporal is available again, perhaps with another store: runs a first pass at once. */
  connected: () => void;
  stop: () => Promise<void>;
}

/** Runs the reconciler after each connection and every 30 seconds. A pass after a first or a failed one is full: the first may meet work in progress. */
export function startReconciler(reconcile: (kind: PassKind) => Promise<unknown>, log: Logger): Reconciler {
  let next: PassKind = 'full';
  let fullAt = 0;
  const pass = async (): Promise<number> => {
    const kind = next === 'brief' && Date.now() >= fullAt ? 'full' : next;
    // A connection during the pass sets it to first.
    next = 'full';
    try {
      await reconcile(kind);
    } catch (error) {
      if (kind === 'first') next = 'first';
      throw error;
    }
    if (kind !== 'first' && next === 'full') next = 'brief';
    if (kind === 'full') fullAt = Date.now() + FULL_MS;
    return 0;
  };
  const loop: Loop = startLoop('reconciler', pass, PERIOD_MS, log);
  return {
    connected() {
      next = 'first';
      loop.wake();
    },
    stop: loop.stop,
  };
}
