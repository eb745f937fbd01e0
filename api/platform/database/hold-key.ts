import type { Services } from '../context.js';
import { finishKey, type IdempotentRequest, LEASE_SECONDS, releaseKey, renewKey } from './idempotency-keys.js';

/** What a key keeps of an answer. */
interface KeptAnswer {
  status: number;
  body: string | null;
}

/**
 * Does the work of a request that has claimed its key, renewing the claim meanwhile. Stores what `keep` returns of the answer; releases the key
 * for null, and after an error.
 * @throws what `work` throws
 */
export async function holdKey<Answer>(
  { db, log }: Pick<Services, 'db' | 'log'>,
  use: IdempotentRequest,
  work: () => Promise<Answer>,
  keep: (answer: Answer) => KeptAnswer | null,
): Promise<Answer> {
  // The work is done, so the caller gets the response even if the key cannot be updated.
  const note = (settling: Promise<void>) =>
    settling.catch((error: unknown) => log.warn({ err: error }, 'idempotency key not settled'));
  const renewal = setInterval(() => void note(renewKey(db, use)), (LEASE_SECONDS * 1000) / 3);
  renewal.unref();
  try {
    const answer = await work();
    const kept = keep(answer);
    await note(kept ? finishKey(db, use, kept.status, kept.body) : releaseKey(db, use));
    return answer;
  } catch (thrown) {
    await note(releaseKey(db, use));
    throw thrown;
  } finally {
    clearInterval(renewal);
  }
}
