import { storable } from './fields.js';

/** Error codes of the envelope with their HTTP status. */
const STATUS_OF = {
  INVALID_REQUEST: 400,
  AUTHENTICATION_REQUIRED: 401,
  QUOTA_EXCEEDED: 402,
  PERMISSION_DENIED: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RESOURCE_CONFLICT: 409,
  APPROVAL_EXPIRED: 410,
  PLAN_EXPIRED: 410,
  REQUEST_EXPIRED: 410,
  CURSOR_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;
export const ERROR_CODES = Object.keys(STATUS_OF) as [ErrorCode, ...ErrorCode[]];

/** One entry of `detail.errors`; `field` is `body.title`, `query.limit` … */
export interface FieldError {
  field: string;
  message: string;
  type: string;
}

/** What to do about an error whose message leaves no more to say. Never repeats a message. */
export const DEFAULT_DETAILS: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'Correct the request before you send it again.',
  AUTHENTICATION_REQUIRED: 'The credential is missing, wrong, expired or revoked.',
  QUOTA_EXCEEDED: 'The plan of the team does not include this.',
  PERMISSION_DENIED: 'Use an account or a token that has the permission.',
  RESOURCE_NOT_FOUND: 'It does not exist, or it was deleted. What is in the trash can be restored.',
  METHOD_NOT_ALLOWED: 'The Allow header lists the methods of this path.',
  RESOURCE_CONFLICT: 'The request is valid, but the stored state does not allow it.',
  APPROVAL_EXPIRED: 'The approval has expired.',
  PLAN_EXPIRED: 'The plan has expired. Ask for a new one.',
  REQUEST_EXPIRED: 'The request has expired. Make a new one.',
  CURSOR_EXPIRED: 'Read what you follow again, and go on from a new cursor.',
  PAYLOAD_TOO_LARGE: 'Send less data in one request.',
  UNSUPPORTED_MEDIA_TYPE: 'Other media types and encodings are not read.',
  VALIDATION_ERROR: 'Correct the request before you send it again.',
  RATE_LIMIT_EXCEEDED: 'Retry-After holds the seconds to wait.',
  INTERNAL_ERROR: 'Quote correlation_id when you report this.',
};

interface ErrorOptions {
  /** What the message does not say, or the field list of a 422. */
  detail?: string | { errors: FieldError[] };
  /** Extra top-level keys of the envelope, such as `upgrade_required`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Only where it differs from the code's status: 503 keeps INTERNAL_ERROR; Node's 400/408/417/431 keep INVALID_REQUEST. */
  status?: number;
  cause?: unknown;
}

/**
 * An error meant for the caller. `name` is the same for every code, so one entry in Temporal's `nonRetryableErrorTypes` stops
 * pointless retries.
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
    { detail = DEFAULT_DETAILS[code], extra = {}, headers = {}, status = STATUS_OF[code], cause }: ErrorOptions = {},
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

/** Same text for unknown, malformed and deleted ids; `what` is the resource's name, for example `Task`. */
export const notFound = (what: string, options?: ErrorOptions) =>
  new DomainError('RESOURCE_NOT_FOUND', `${what} not found`, options);

/** For restoring and purging: unknown, live and purged. */
export const notInTrash = (what: string) =>
  new DomainError('RESOURCE_NOT_FOUND', `${what} not found in the trash`, {
    detail: 'It does not exist, or it is not in the trash.',
  });

/**
 * Identical for a missing, malformed, expired or revoked credential and for a suspended owner, so it reveals nothing
 * (docs/decisions/identity.md#uniform-401).
 */
export const unauthenticated = () =>
  new DomainError('AUTHENTICATION_REQUIRED', 'Authentication required', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  });

const MAX_NAMED_FIELDS = 3;
const MAX_FIELD_LENGTH = 64;

/** Names the invalid fields; the reasons are in `errors`. */
function invalidFieldsMessage(errors: FieldError[]): string {
  if (errors.every(({ field }) => /^body(\.\d+)?$/.test(field))) return 'The request body is invalid';
  const fields = [...new Set(errors.map(({ field }) => field.replace(/^(body(\.\d+)?|query|path|header)\./, '')))];
  const named = fields.slice(0, MAX_NAMED_FIELDS).map((field) => field.slice(0, MAX_FIELD_LENGTH));
  const others = fields.length - named.length;
  return `Invalid ${fields.length === 1 ? 'field' : 'fields'}: ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** @returns a 422 whose message names the fields and whose `detail.errors` says what is wrong with each */
export const invalidFields = (errors: FieldError[]) =>
  new DomainError('VALIDATION_ERROR', invalidFieldsMessage(errors), { detail: { errors } });

/** Returns what is wrong in one line, for a record that keeps no more: of invalid fields the reasons, and not only their names. */
export function reasonOf({ message, detail }: Pick<DomainError, 'message' | 'detail'>): string {
  // What quotes a given text may be cut within a character.
  if (typeof detail === 'string') return storable(message);
  const sentences = detail.errors.slice(0, MAX_NAMED_FIELDS).map(({ field, message: reason }) => {
    const name = field.split('.').at(-1)?.slice(0, MAX_FIELD_LENGTH);
    return reason.startsWith('must') ? `${name} ${reason}` : reason;
  });
  return storable(sentences.join('; '));
}

/** A dependency is down; nothing was stored. */
export const unavailable = (cause?: unknown) =>
  new DomainError('INTERNAL_ERROR', 'Service temporarily unavailable', {
    status: 503,
    headers: { 'Retry-After': '2' },
    cause,
  });

/** A lock wait timed out; nothing was stored. */
export const busy = (cause?: unknown) =>
  new DomainError('INTERNAL_ERROR', 'A conflicting change is in progress', {
    detail: 'Nothing was stored. Retry the request.',
    status: 503,
    headers: { 'Retry-After': '1' },
    cause,
  });
