import type { Client } from '@temporalio/client';

const WATCH_MS = 2_000;

/**
 * Watches what Temporal keeps behind a connection that goes on: the server may have come back with another store, or with an older one
 * from a backup. Calls `onReturn` when it answers again after it did not, or when its namespace is another one than before.
 * @returns stops watching
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
