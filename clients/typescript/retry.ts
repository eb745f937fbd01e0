const BASE_DELAY_MS = 250;

/** Returns the delay that a Retry-After header asks for, in ms: seconds or an HTTP date; undefined without one. */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^[0-9]+$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Returns an exponential delay with jitter, in ms. */
export const backoffMs = (attempt: number): number => BASE_DELAY_MS * 2 ** attempt * (0.5 + Math.random() / 2);

/**
 * Returns whether a response may be retried. 429 and a 503 with Retry-After changed nothing. Other failures are ambiguous: they are
 * retried only where a repetition is harmless. A 409 with Retry-After means that the first request with this key is still running.
 */
export function isRetryable(response: Response, isRepeatable: boolean): boolean {
  const hasRetryAfter = response.headers.has('Retry-After');
  if (response.status === 429) return true;
  if (response.status === 503 && hasRetryAfter) return true;
  if (response.status === 409) return hasRetryAfter && isRepeatable;
  return isRepeatable && response.status >= 500;
}

/** Waits, or rejects when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
