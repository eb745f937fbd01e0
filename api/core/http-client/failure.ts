/** Why a request brought no answer, in words of ours: what the other side or a library says may hold what was sent. */
const REASONS = {
  url_invalid: 'The address is not one that a request can go to',
  url_blocked: 'The address leads to a place that no request may go to',
  header_invalid: 'A header has a name or a value that cannot be sent',
  timeout: 'There was no complete answer in time',
  connection_failed: 'The connection failed',
  response_invalid: 'The answer is not proper HTTP, or its headers are too large',
} as const;

export type OutboundReason = keyof typeof REASONS;

/** What may be different the next time. */
const PASSING: readonly OutboundReason[] = ['timeout', 'connection_failed'];

export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure';
  readonly isRetryable: boolean;

  constructor(
    readonly reason: OutboundReason,
    detail?: string,
    /** What the other side asks us to wait, ms. */
    readonly waitMs: number | null = null,
  ) {
    super(detail ? `${REASONS[reason]}: ${detail}` : REASONS[reason]);
    this.isRetryable = PASSING.includes(reason);
  }
}

/** Refusals that may be none the next time: too early, too many, or the other side's own fault. */
export const isPassingStatus = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

/** Codes of Node and undici that say more than "it failed". */
const KNOWN: Record<string, OutboundReason> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'response_invalid',
  UND_ERR_INVALID_ARG: 'header_invalid',
};

/** What was thrown while sending, without its own words. */
export function failureOf(thrown: unknown): OutboundFailure {
  if (thrown instanceof OutboundFailure) return thrown;
  const { name, code } = thrown as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return new OutboundFailure('timeout');
  const known = typeof code === 'string' ? KNOWN[code] : undefined;
  if (known) return new OutboundFailure(known);
  return new OutboundFailure(typeof code === 'string' && code.startsWith('HPE_') ? 'response_invalid' : 'connection_failed');
}
