import type { WorkflowHandle } from '@temporalio/client';

/** Returns what Temporal keeps of a workflow and shows beside it, with the payloads decoded: within base64 no word would be found. */
export async function readKept(handle: Pick<WorkflowHandle, 'fetchHistory' | 'describe'>): Promise<string> {
  const text = JSON.stringify([await handle.fetchHistory(), await handle.describe()]);
  return text.replace(
    /"data":"([A-Za-z0-9+/=]*)"/g,
    (whole, data: string) => `${whole}${Buffer.from(data, 'base64').toString()}`,
  );
}
