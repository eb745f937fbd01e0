import type { Client } from '@temporalio/client';
import type { Logger } from '../../api/platform/telemetry/log.js';

/** A request for each look, ms. */
const WATCH_MS = 1_000;
/** Without an answer for so long Temporal counts as unreachable, ms. */
const SILENT_MS = 5_000;
/** Requests that may wait at a time: the SDK gives one up after 10 s or more. */
const MAX_OPEN = 15;

export interface Reachability {
  get: () => boolean;
  set: (isReachable: boolean) => void;
}

/** Keeps whether Temporal answers, at first not, and calls `onChange` with each change. */
export function trackReachability(onChange: (isReachable: boolean) => void): Reachability {
  let isReachable = false;
  return {
    get: () => isReachable,
    set(now) {
      if (now === isReachable) return;
      isReachable = now;
      onChange(now);
    },
  };
}

/**
 * Asks Temporal for the namespace every second: a connection stays open through an outage, so only a request tells. Looks do not wait for each
 * other: the SDK repeats a failed request for 10 s, in the end every 5 s, whatever its deadline, while a new one is sent at once. Calls
 * `onReturn` when the server answers again, or the namespace has another id: perhaps with a new store, or an older backup.
 * @returns a function that stops watching
 */
export function watchStore(client: Client, log: Logger, reachability: Reachability, onReturn: () => void): () => void {
  const { namespace } = client.options;
  let known: string | undefined;
  let isStopped = false;
  let open = 0;
  let answeredAt = Date.now();
  const found = (id: string): void => {
    answeredAt = Date.now();
    const isAnother = known !== undefined && known !== id;
    known = id;
    if (isStopped || !(isAnother || !reachability.get())) return;
    log.warn('Temporal reconnected, possibly with another store; reconciling');
    reachability.set(true);
    onReturn();
  };
  const missed = (error?: unknown): void => {
    if (isStopped || !reachability.get() || Date.now() - answeredAt < SILENT_MS) return;
    log.warn({ err: error }, 'Temporal does not answer');
    reachability.set(false);
  };
  const look = (): void => {
    missed();
    if (open >= MAX_OPEN) return;
    open += 1;
    client
      .withDeadline(Date.now() + SILENT_MS, () => client.workflowService.describeNamespace({ namespace }))
      .then(({ namespaceInfo }) => found(namespaceInfo?.id ?? ''), missed)
      .finally(() => {
        open -= 1;
      });
  };
  look();
  const timer = setInterval(look, WATCH_MS).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
