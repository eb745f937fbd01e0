/** Bytes of an answer that are kept. */
export const MAX_RESULT = 65_536;

/** Returns the beginning of a text, at most so many bytes. */
export function cutBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let end = max;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // between two characters
  return bytes.toString('utf8', 0, end);
}

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
