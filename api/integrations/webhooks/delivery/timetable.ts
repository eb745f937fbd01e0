/** Requests in progress at one endpoint, over all workers. */
export const MAX_IN_FLIGHT = 10;
/** Failures in a row after which an endpoint receives one request at a time. */
export const PROBE_AFTER = 5;
/** Receivers may ask for a pause up to this. */
const MAX_RETRY_AFTER_SECONDS = 86_400;
/** The pause between two probes doubles from the second step of the timetable to this multiple. */
export const MAX_PROBE_FACTOR = 12;

/** What became of an attempt. */
export type Outcome = { status: 'succeeded' } | { status: 'failed'; isGone: boolean } | { status: 'retry'; waitSeconds: number };

/**
 * Decides what follows an attempt (docs/decisions/integrations.md#webhook-attempts).
 * @param tries failed attempts before this one
 * @param statusCode null without an answer
 * @param steps seconds before each attempt
 */
export function toOutcome(
  tries: number,
  statusCode: number | null,
  retryAfterMs: number | null,
  steps: readonly number[],
): Outcome {
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { status: 'succeeded' };
  if (statusCode === 410) return { status: 'failed', isGone: true };
  const step = steps[tries + 1];
  if (step === undefined) return { status: 'failed', isGone: false };
  return { status: 'retry', waitSeconds: Math.max(step, Math.min((retryAfterMs ?? 0) / 1_000, MAX_RETRY_AFTER_SECONDS)) };
}

/** Seconds of the lease of a request: long enough for its time-out and for the record of its outcome. */
export const leaseSeconds = (timeoutSeconds: number): number => timeoutSeconds * 3;
