import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from './caller.js';
import type { Stack } from './stack.js';

export interface Load {
  /** Requests sent so far. */
  sent: () => number;
  /** Waits for the requests under way and returns the counts. */
  stop: () => Promise<LoadResult>;
}

export interface LoadResult {
  sent: number;
  /** Requests without a 2xx, by status or error. */
  failed: Record<string, number>;
  /** Titles of tasks whose creation was acknowledged. */
  created: string[];
  /** Longest time without a success, ms. */
  longestGapMs: number;
  /** When the first success after the longest gap came, as Date.now(). */
  lastSuccess: number;
  /** When the latest failed request was sent, as Date.now(); 0 without one. */
  lastFailure: number;
}

/** Sends reads and creations at an even rate, whatever comes back, until it is stopped. Nothing is sent twice. */
export function startLoad(base: string, { token, projectId }: Pick<User, 'token' | 'projectId'>, perSecond: number): Load {
  const result: LoadResult = { sent: 0, failed: {}, created: [], longestGapMs: 0, lastSuccess: Date.now(), lastFailure: 0 };
  const open = new Set<Promise<void>>();
  let stopped = false;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (n: number): Promise<void> => {
    const sentAt = Date.now();
    const signal = AbortSignal.timeout(20_000);
    const title = `load ${n} ${Math.random()}`;
    const isWrite = n % 4 === 0;
    let outcome: string;
    try {
      const response = isWrite
        ? await fetch(`${base}/api/tasks`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ title, project_id: projectId }),
            signal,
          })
        : await fetch(`${base}/api/tasks?limit=5`, { headers, signal });
      await response.arrayBuffer();
      outcome = String(response.status);
    } catch (error) {
      outcome = ((error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name).toString();
    }
    if (outcome.startsWith('2')) {
      result.longestGapMs = Math.max(result.longestGapMs, Date.now() - result.lastSuccess);
      result.lastSuccess = Date.now();
      if (isWrite) result.created.push(title);
    } else {
      result.failed[outcome] = (result.failed[outcome] ?? 0) + 1;
      result.lastFailure = Math.max(result.lastFailure, sentAt);
    }
  };
  const loop = (async () => {
    for (const began = Date.now(); !stopped; ) {
      const sent = send(result.sent);
      result.sent += 1;
      open.add(sent);
      void sent.finally(() => open.delete(sent));
      await sleep(Math.max(0, began + (result.sent * 1_000) / perSecond - Date.now()));
    }
  })();
  return {
    sent: () => result.sent,
    async stop() {
      stopped = true;
      await loop;
      await Promise.all(open);
      return result;
    },
  };
}

/** Titles of the tasks of any load that a service's database has. */
export const readTitles = async (stack: Stack, service = 'postgres'): Promise<Set<string>> =>
  new Set(await stack.sql("select title from tasks where title like 'load %'", service));

/** Returns how many acknowledged creations a service's database lacks. */
export async function countLost(stack: Stack, created: readonly string[], service = 'postgres'): Promise<number> {
  const titles = await readTitles(stack, service);
  return created.filter((title) => !titles.has(title)).length;
}

/** Number of failed requests, with their kinds. */
export const describeFailures = ({ failed }: LoadResult): string => {
  const kinds = Object.entries(failed).map(([kind, count]) => `${count} × ${kind}`);
  return kinds.length === 0 ? '0' : kinds.join(', ');
};
