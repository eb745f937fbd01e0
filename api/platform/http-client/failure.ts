/** Reasons for a request without a response, in fixed texts: a message of the receiver or a library may contain what was sent. */
const REASONS = {
  url_invalid: 'Invalid URL',
  url_blocked: 'Destination not allowed',
  header_invalid: 'Invalid header',
  timeout: 'Request timed out',
  connection_failed: 'Connection failed',
  response_invalid: 'Invalid HTTP response',
} as const;

export type OutboundReason = keyof typeof REASONS;

/** May succeed on a retry. */
const PASSING: readonly OutboundReason[] = ['timeout', 'connection_failed'];

export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure';
  readonly isRetryable: boolean;

  constructor(
    readonly reason: OutboundReason,
    detail?: string,
    /** Wait requested by the receiver, ms. */
    readonly waitMs: number | null = null,
    /** The connection was open, so the receiver may have got the request. */
    readonly mayHaveArrived = false,
  ) {
    super(detail ? `${REASONS[reason]}: ${detail}` : REASONS[reason]);
    this.isRetryable = PASSING.includes(reason);
  }
}

/** Returns whether a retry may succeed: too early, too many requests, or a server error. */
export const isPassingStatus = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

/** Codes of Node and undici with a specific reason. */
const KNOWN: Record<string, OutboundReason> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'response_invalid',
  UND_ERR_INVALID_ARG: 'header_invalid',
};

/** Returns the failure of a request whose connection was open. */
const asArrived = ({ reason, message, waitMs }: OutboundFailure): OutboundFailure =>
  new OutboundFailure(
    reason,
    message.startsWith(`${REASONS[reason]}: `) ? message.slice(REASONS[reason].length + 2) : undefined,
    waitMs,
    true,
  );

/** Maps an error thrown while sending to a fixed reason, without its message. `wasOpen`: the connection had been opened. */
export function toFailure(thrown: unknown, wasOpen = false): OutboundFailure {
  const failure = findFailure(thrown);
  return wasOpen ? asArrived(failure) : failure;
}

function findFailure(thrown: unknown): OutboundFailure {
  if (thrown instanceof OutboundFailure) return thrown;
  const { name, code } = thrown as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return new OutboundFailure('timeout');
  const known = typeof code === 'string' ? KNOWN[code] : undefined;
  if (known) return new OutboundFailure(known);
  return new OutboundFailure(typeof code === 'string' && code.startsWith('HPE_') ? 'response_invalid' : 'connection_failed');
}
