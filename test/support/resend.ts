import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Sends a request, and sends it again for as long as the answer is 503 with `Retry-After`, as a client does. For tests in which far
 * more meets at once than a busy machine serves in time: nothing of a refused request is stored, so only the last answer counts.
 */
export async function resend<T extends { status: number; headers: Headers }>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503 || !answer.headers.has('retry-after')) return answer;
    await sleep(100);
  }
}
