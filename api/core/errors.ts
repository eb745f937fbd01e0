/** Error codes of the envelope with their status (contract, section 7; decision J1). */
const STATUS_OF = {
  INVALID_REQUEST: 400,
  AUTHENTICATION_REQUIRED: 401,
  QUOTA_EXCEEDED: 402,
  PERMISSION_DENIED: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RESOURCE_CONFLICT: 409,
  APPROVAL_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;
export const ERROR_CODES = Object.keys(STATUS_OF) as [ErrorCode, ...ErrorCode[]];

/** One problem of a field, as `detail.errors` lists them: `field` is `body.title`, `query.limit` … */
export interface FieldError {
  field: string;
  message: string;
  type: string;
}

interface ErrorOptions {
  /** Longer text, or the field list of a 422; the message where absent. */
  detail?: string | { errors: FieldError[] };
  /** Extra top-level keys beside the envelope, such as `upgrade_required`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Only where the status is not the code's own (503 keeps INTERNAL_ERROR, J1; 400/408/417/431 of Node keep INVALID_REQUEST). */
  status?: number;
  cause?: unknown;
}

/**
 * A refusal the caller is meant to see. `name` is the same for every code, so one entry in Temporal's
 * `nonRetryableErrorTypes` stops pointless retries.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly status: number;
  readonly detail: string | { errors: FieldError[] };
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { detail = message, extra = {}, headers = {}, status = STATUS_OF[code], cause }: ErrorOptions = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.detail = detail;
    this.extra = extra;
    this.headers = headers;
  }
}

export const invalid = (message: string, options?: ErrorOptions) => new DomainError('INVALID_REQUEST', message, options);
export const forbidden = (message: string, options?: ErrorOptions) => new DomainError('PERMISSION_DENIED', message, options);
export const conflict = (message: string, options?: ErrorOptions) => new DomainError('RESOURCE_CONFLICT', message, options);

/** The same words for unknown, malformed and trashed: `what` is the resource's name, e.g. `Task`. */
export const notFound = (what: string) => new DomainError('RESOURCE_NOT_FOUND', `${what} not found`);

/** Identical for a missing, malformed, expired or revoked credential and for a suspended owner (contract, section 5). */
export const unauthenticated = () =>
  new DomainError('AUTHENTICATION_REQUIRED', 'Authentication required', { headers: { 'WWW-Authenticate': 'Bearer' } });

export const invalidFields = (errors: FieldError[]) =>
  new DomainError('VALIDATION_ERROR', 'Validation failed', { detail: { errors } });

/** Something we need is away; nothing was stored. */
export const unavailable = (cause?: unknown) =>
  new DomainError('INTERNAL_ERROR', 'The service is temporarily unavailable', {
    status: 503,
    headers: { 'Retry-After': '2' },
    cause,
  });

/** Somebody else's change has not ended in the time that one waits for it; nothing was stored. */
export const busy = (cause?: unknown) =>
  new DomainError('INTERNAL_ERROR', 'Another change of the same thing is under way', {
    detail: 'Nothing was stored. Send the request again.',
    status: 503,
    headers: { 'Retry-After': '1' },
    cause,
  });
