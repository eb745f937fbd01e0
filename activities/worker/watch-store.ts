import type { Client } from '@temporalio/client';

const WATCH_MS = 2_000;

/**
 * Watches for another Temporal store behind a live connection: the server may return with a new store or an older backup. Calls
 * `onReturn` after an outage, or if the namespace's id has changed.
 * @returns a function that stops watching
 */
export function watchStore(client: Client, onReturn: () => void): () => void {
  const { namespace } = client.options;
  let known: string | undefined;
  let wasAway = false;
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
      if (!isStopped && (isAnother || wasAway)) onReturn();
      wasAway = false;
    } catch {
      wasAway = true;
    }
    if (!isStopped) timer = setTimeout(() => void look(), WATCH_MS).unref();
  };
  void look();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
