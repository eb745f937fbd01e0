import type { Client } from '@temporalio/client';
import type { Logger } from '../../api/platform/telemetry/log.js';

const WATCH_MS = 2_000;

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
 * Asks Temporal for the namespace every two seconds: a connection stays open through an outage, so only a request tells. Calls `onReturn`
 * when the server answers again, or the namespace has another id: perhaps with a new store, or an older backup.
 * @returns a function that stops watching
 */
export function watchStore(client: Client, log: Logger, reachability: Reachability, onReturn: () => void): () => void {
  const { namespace } = client.options;
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const look = async (): Promise<void> => {
    try {
      const { namespaceInfo } = await client.withDeadline(Date.now() + WATCH_MS, () =>
        client.workflowService.describeNamespace({ namespace }),
      );
      const id = namespaceInfo?.id ?? '';
      const isAnother = known !== undefined && known !== id;
      known = id;
      if (!isStopped && (isAnother || !reachability.get())) {
        log.warn('Temporal reconnected, possibly with another store; reconciling');
        reachability.set(true);
        onReturn();
      }
    } catch (error) {
      if (!isStopped && reachability.get()) {
        log.warn({ err: error }, 'Temporal does not answer');
        reachability.set(false);
      }
    }
    if (!isStopped) timer = setTimeout(() => void look(), WATCH_MS).unref();
  };
  void look();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
