import { AssentError } from '../errors.js';
import { AddressError } from '../node/service-address.js';

/** Exit statuses of our own; a command that ran has its own. They are those of sysexits.h and of the shell where these have one. */
export const EXIT = {
  done: 0,
  usage: 64,
  changed: 65,
  away: 69,
  undecided: 75,
  rejected: 77,
  notLoggedIn: 78,
  failed: 125,
  cannotRun: 126,
  notFound: 127,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];
export const SIGNAL_BASE = 128;

/** An end that the user has to know about: one sentence, for programs a reason, and what to do as further lines. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exit: Exit;
  readonly hints: readonly string[];

  constructor(
    /** Key of EXIT. */
    readonly reason: keyof typeof EXIT,
    message: string,
    ...hints: string[]
  ) {
    super(message);
    this.exit = EXIT[reason];
    this.hints = hints;
  }
}

/** A response that Assent does not send, such as the sign-in page of a network. */
export class NotAssent extends Error {
  override readonly name = 'NotAssent';
  constructor() {
    super('the response is not from Assent');
  }
}

/** A signal ended us before the command ran. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  constructor(readonly signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
  }
}

/** Members that errors about change requests have beside those of every error. */
interface RequestErrorBody {
  reason?: string;
  request_status?: string;
}
const requestError = (error: AssentError): RequestErrorBody => (error.body ?? {}) as RequestErrorBody;

/** Returns the reason of a refused call, such as `hash_differs`; undefined for other errors. */
export const refusalReason = (error: unknown): string | undefined =>
  error instanceof AssentError ? requestError(error).reason : undefined;

/** Whether the service, or the way to it, is away: the same call may succeed later. */
export function isAway(error: unknown): boolean {
  if (error instanceof AssentError) {
    // An error page of a proxy has no code of ours.
    return error.status >= 500 || error.status === 429 || error.status === 408 || error.errorCode === undefined;
  }
  // What fetch throws: a TypeError with its cause, or the DOMException of a timeout. Our own mistakes have no cause.
  if (error instanceof TypeError) return error.cause !== undefined;
  return error instanceof NotAssent || (error instanceof Error && error.name === 'TimeoutError');
}

/** What went wrong below HTTP, such as ECONNREFUSED, or the error response in one line. */
export function describeOutage(error: unknown): string {
  if (error instanceof AssentError)
    return `${error.status} ${error.errorCode ? error.message : 'from something that is not Assent'}`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}

const BY_STATUS: Record<number, keyof typeof EXIT> = {
  400: 'usage',
  401: 'notLoggedIn',
  403: 'notLoggedIn',
  404: 'usage',
  409: 'usage',
  410: 'undecided',
  413: 'usage',
  422: 'usage',
};
const BY_REASON: Record<string, keyof typeof EXIT> = {
  denied_by_rule: 'rejected',
  refused_before: 'rejected',
  too_many_open: 'undecided',
  hash_differs: 'changed',
};
const HINTS: Record<string, string> = {
  denied_by_rule: 'A team admin sets the rules of the team.',
  refused_before: 'People rejected exactly this three times within 24 hours.',
  too_many_open: "'assent cancel ID' withdraws a request that is no longer needed.",
  self: 'Someone else has to approve it.',
  hash_differs: "It was edited since it was shown. 'assent show ID' shows it as it is now.",
};

function explainRefusal(error: AssentError): Failure {
  const { reason = '' } = requestError(error);
  const fields = error.fields.map(({ field, message }) => `${field.replace(/^body\./, '')}: ${message}`);
  const hints = [...fields, ...(HINTS[reason] ? [HINTS[reason]] : [])];
  if (error.status === 401) hints.push("The token is unknown, expired or revoked. 'assent login' stores another one.");
  if (error.correlationId !== undefined) hints.push(`Correlation id: ${error.correlationId}`);
  return new Failure(BY_REASON[reason] ?? BY_STATUS[error.status] ?? 'failed', error.message.replace(/\.$/, ''), ...hints);
}

/** Returns the failure that any error means to the user; undefined for a defect of our own. */
export function toFailure(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  if (error instanceof AddressError) return new Failure('usage', error.message);
  if (isAway(error)) {
    const what = error instanceof AssentError ? 'cannot answer now' : 'cannot be reached';
    return new Failure('away', `the service ${what}: ${describeOutage(error)}`);
  }
  if (error instanceof AssentError) return explainRefusal(error);
  const { code, path } = error as NodeJS.ErrnoException & { path?: string };
  if (code?.startsWith('ERR_PARSE_ARGS')) return new Failure('usage', (error as Error).message);
  // A file that the user named.
  if (code !== undefined && path !== undefined) return new Failure('usage', `${path}: ${describeErrno(code)}`);
  return undefined;
}

const ERRNO: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk cannot be written',
};
export const describeErrno = (code: string): string => ERRNO[code] ?? code;
