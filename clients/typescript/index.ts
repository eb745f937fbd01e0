import { buildError } from './errors.js';
import { DOWNLOADS, FORMER_NAMES, OPERATIONS, STREAMS, UPLOADS } from './operations.js';
import { backoffMs, isRetryable, retryAfterMs, sleep } from './retry.js';
import type { CallOptions, FormerMethods, Item, ListId, Methods, OperationId, Rest, Result } from './types.js';

export { AssentError } from './errors.js';
export { verifyWebhook, WebhookVerificationError } from './webhooks.js';
export type { components, operations, paths, webhooks } from './schema.js';
export type * from './types.js';

export interface ClientOptions {
  /** Such as `https://assent.example.com`, without `/api`. */
  baseUrl: string;
  /** Personal access token or session token. */
  token?: string;
  /** Retries after the first attempt; default 2. */
  maxRetries?: number;
  /** Longest wait for one retry, ms; default 60000. A longer Retry-After ends the call with its error. */
  maxRetryDelayMs?: number;
  /** Timeout of one attempt, ms; default 30000, or 300000 for uploads and downloads. */
  timeoutMs?: number;
  /** Unknown fields are errors (422) instead of ignored. */
  strict?: boolean;
  fetch?: typeof globalThis.fetch;
}

interface Call extends CallOptions {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | readonly string[] | Record<string, string | readonly string[]> | undefined>;
  body?: unknown;
}

export interface Client extends Methods, FormerMethods {
  /** Like the method of the operation, with the response and its headers. */
  request: <Id extends OperationId>(id: Id, ...args: Rest<Id>) => Promise<{ data: Result<Id>; response: Response }>;
  /** Iterates over all elements of a list, page by page. */
  iterate: <Id extends ListId>(id: Id, ...args: Rest<Id>) => AsyncGenerator<Item<Id>, void>;
}

const TIMEOUT_MS = 30_000;
const TRANSFER_TIMEOUT_MS = 300_000;

/** Methods for which a repetition has the effect of one request. */
const REPEATABLE = ['GET', 'PUT'];

function buildAddress(baseUrl: string, template: string, { path = {}, query = {} }: Call): URL {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${filled}`);
  // A list repeats its parameter.
  const add = (name: string, value: unknown): void => [value].flat().forEach((one) => url.searchParams.append(name, String(one)));
  for (const [name, value] of Object.entries(query)) {
    // An object becomes one parameter for each of its keys (style deepObject), such as custom_field[severity].
    if (typeof value === 'object' && !Array.isArray(value))
      for (const [key, one] of Object.entries(value)) add(`${name}[${key}]`, one);
    else if (value !== undefined) add(name, value);
  }
  return url;
}

/** Whether a body is sent as JSON; forms and the bytes of a file go as they are. */
const isJson = (body: unknown): boolean => body !== undefined && !(body instanceof FormData) && !(body instanceof Blob);

function buildHeaders({ token, strict }: ClientOptions, takesKey: boolean, call: Call): Record<string, string> {
  return {
    Accept: 'application/json',
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(strict && { Prefer: 'handling=strict' }),
    ...(call.body instanceof Blob && { 'Content-Type': 'application/octet-stream' }),
    ...(isJson(call.body) && { 'Content-Type': 'application/json' }),
    ...(takesKey && { 'Idempotency-Key': call.idempotencyKey ?? crypto.randomUUID() }),
    ...(call.ifMatch && { 'If-Match': call.ifMatch }),
    ...call.headers,
  };
}

/** Returns the form of an upload: its fields first, as the service asks for. A File brings its name. */
function buildForm({ file, ...fields }: Record<string, string | Blob | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
  }
  if (file instanceof Blob) form.set('file', file);
  return form;
}

const encoded = (body: unknown): FormData | Blob | string => (isJson(body) ? JSON.stringify(body) : (body as FormData | Blob));

/** Sends a request and retries it. @throws AssentError for an error response, or what `fetch` throws */
async function send(
  options: ClientOptions & { timeoutMs: number },
  url: URL,
  init: RequestInit,
  isRepeatable: boolean,
): Promise<Response> {
  const { maxRetries = 2, maxRetryDelayMs = 60_000, timeoutMs, fetch = globalThis.fetch } = options;
  const signal = init.signal ?? undefined;
  for (let attempt = 0; ; attempt++) {
    const timeout = AbortSignal.timeout(timeoutMs);
    const isLast = attempt >= maxRetries;
    let delay = backoffMs(attempt);
    try {
      const response = await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
      if (response.ok) return response;
      delay = retryAfterMs(response.headers.get('Retry-After')) ?? delay;
      if (isLast || delay > maxRetryDelayMs || !isRetryable(response, isRepeatable)) throw await buildError(response);
      await response.body?.cancel();
    } catch (error) {
      const isNetwork = !(error instanceof Error && error.name === 'AssentError');
      if (!isNetwork || isLast || !isRepeatable || signal?.aborted) throw error;
    }
    await sleep(delay, signal);
  }
}

/** Returns the URL of the next page from a Link header (RFC 8288). */
function getNextPage(response: Response): URL | undefined {
  const target = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(response.headers.get('Link') ?? '')?.[1];
  return target === undefined ? undefined : new URL(target, response.url);
}

/** Creates a client of one installation. */
export function createClient(options: ClientOptions): Client {
  const perform = (id: OperationId, given: Call = {}, at?: URL) => {
    const isUpload = UPLOADS.includes(id);
    const call = isUpload ? { ...given, body: buildForm(given.body as Record<string, string | Blob | undefined>) } : given;
    const { method, path, takesKey } = OPERATIONS[id];
    const url = at ?? buildAddress(options.baseUrl, path, call);
    const { signal } = call;
    const init: RequestInit = {
      method,
      headers: buildHeaders(options, takesKey, call),
      ...(call.body !== undefined && { body: encoded(call.body) }),
      ...(signal && { signal }),
    };
    const timeoutMs =
      options.timeoutMs ?? ([UPLOADS, STREAMS, DOWNLOADS].some((ids) => ids.includes(id)) ? TRANSFER_TIMEOUT_MS : TIMEOUT_MS);
    return send({ ...options, timeoutMs }, url, init, takesKey || REPEATABLE.includes(method));
  };
  const parse = async (response: Response, id?: OperationId): Promise<unknown> => {
    if (id && DOWNLOADS.includes(id)) return response.blob();
    const isJson = response.headers.get('Content-Type')?.includes('json');
    return isJson ? response.json() : response.text();
  };
  const request = async (id: OperationId, call?: Call) => {
    const response = await perform(id, call);
    return { data: await parse(response, id), response };
  };
  async function* iterate(id: ListId, call?: Call) {
    const { rows } = OPERATIONS[id];
    for (let at: URL | undefined, isFirst = true; isFirst || at; isFirst = false) {
      const response = await perform(id, call, at);
      const body = await parse(response);
      yield* (rows === '' ? body : (body as Record<string, unknown>)[rows]) as unknown[];
      at = getNextPage(response);
    }
  }
  const methods = Object.keys(OPERATIONS).map((id) => [id, async (call?: Call) => (await request(id as OperationId, call)).data]);
  const byId: Record<string, unknown> = Object.fromEntries(methods);
  const former = Object.entries(FORMER_NAMES).map(([name, id]) => [name, byId[id]]);
  return { ...byId, ...Object.fromEntries(former), request, iterate } as unknown as Client;
}
