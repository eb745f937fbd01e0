/** What came of an operation that Assent performed. */
export interface Performance {
  outcome: 'succeeded' | 'failed' | 'unknown';
  /** As a report has them: `duration_ms`, `details`. */
  details: Record<string, unknown>;
  /** What the other server answered, without secrets; null if it did not. */
  result: string | null;
  isCut: boolean;
}

/** Returns the performance of an operation that failed before anything was sent. */
export const failed = (code: string, message: string): Performance => ({
  outcome: 'failed',
  details: { details: { error: code, message } },
  result: null,
  isCut: false,
});
