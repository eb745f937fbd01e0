import type { ModelErrorCode } from '../../platform/telemetry/model-metrics.js';

const MESSAGES: Record<ModelErrorCode, string> = {
  model_busy: 'The model is busy',
  model_refused: 'The provider refused the request',
  model_garbled: 'The answer of the model cannot be read',
  model_unreachable: 'The model cannot be reached',
  model_too_long: 'The prompt is too long for the model',
};

/** Codes that a later attempt may not meet. */
const PASSING: readonly ModelErrorCode[] = ['model_busy', 'model_unreachable'];

interface FailureOptions {
  /** Wait that the provider asks for, ms; null for none. */
  waitMs?: number | null;
  /** The provider has read the prompt and may charge for it. */
  isCharged?: boolean;
}

/** A failed call of a model. It has no cause: the error of the library holds the whole prompt. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly isRetryable: boolean;
  readonly waitMs: number | null;
  readonly isCharged: boolean;

  constructor(
    readonly code: ModelErrorCode,
    { waitMs = null, isCharged = false }: FailureOptions = {},
  ) {
    super(MESSAGES[code]);
    this.isRetryable = PASSING.includes(code);
    this.waitMs = waitMs;
    this.isCharged = isCharged;
  }
}

/** What is read of an error of the libraries. */
interface ErrorFields {
  name?: unknown;
  code?: unknown;
  cause?: unknown;
  statusCode?: unknown;
  responseHeaders?: Record<string, string | undefined>;
}

const listParts = (thrown: unknown): ErrorFields =>
  typeof thrown === 'object' && thrown !== null ? (thrown as ErrorFields) : {};

/** Returns the errors from `thrown` to its first cause. */
function listErrorChain(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = thrown; at !== undefined && at !== null && chain.length < 10; at = listParts(at).cause) chain.push(at);
  return chain;
}

/** Parses Retry-After, in seconds or as a date (RFC 9110, 10.2.3); null without a usable one. */
function computeWait(headers: ErrorFields['responseHeaders']): number | null {
  const value = headers?.['retry-after']?.trim();
  if (value === undefined || value === '') return null;
  const ms = /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : null;
}

/** Statuses that mean something else than the rest of their class. */
const STATUSES: Record<number, ModelErrorCode> = {
  400: 'model_too_long',
  408: 'model_busy',
  409: 'model_busy',
  413: 'model_too_long',
  425: 'model_busy',
  429: 'model_busy',
};

function failureOfStatus(status: number, headers: ErrorFields['responseHeaders']): ModelFailure {
  // An unreadable answer to a request that succeeded: the provider has answered, and charges for it.
  if (status < 300) return new ModelFailure('model_garbled', { isCharged: true });
  const code = status >= 500 ? 'model_busy' : (STATUSES[status] ?? 'model_refused');
  return new ModelFailure(code, { waitMs: computeWait(headers) });
}

const CONNECTION_CODE = /^(E[A-Z]+|UND_ERR_(CONNECT_TIMEOUT|SOCKET))$/;
const ABORTS = ['AbortError', 'TimeoutError'];

/** Maps an error of a library to one of ours, from its name, status and codes alone. */
export function toFailure(thrown: unknown): ModelFailure {
  const chain = listErrorChain(thrown);
  const ours = chain.find((error) => error instanceof ModelFailure);
  if (ours) return ours;
  const parts = chain.map(listParts);
  if (parts.some(({ name }) => typeof name === 'string' && ABORTS.includes(name)))
    return new ModelFailure('model_unreachable', { isCharged: true });
  // A connection that breaks within an answer shows as an error with the status of its beginning.
  const broken = parts.find(({ code }) => typeof code === 'string' && /^(E[A-Z]{3,}|UND_ERR_\w+)$/.test(code));
  if (broken) return new ModelFailure('model_unreachable', { isCharged: !CONNECTION_CODE.test(String(broken.code)) });
  const answered = parts.find(({ statusCode }) => typeof statusCode === 'number');
  if (answered) return failureOfStatus(answered.statusCode as number, answered.responseHeaders);
  if (parts.some(({ name }) => name === 'TypeError')) return new ModelFailure('model_unreachable');
  return new ModelFailure('model_garbled', { isCharged: true });
}
