import { setTimeout as sleep } from 'node:timers/promises';

/** Result of a request; `unknown` after a broken connection, a timeout or any 5xx. */
type Outcome = { known: true; status: number; body: unknown; etag: string | null } | { known: false; why: string };

interface Request {
  method: string;
  path: string;
  token?: string;
  body?: unknown;
  /** Exact bytes instead of `body`. */
  raw?: string;
  headers?: Record<string, string>;
}

/** The load's HTTP client, with counts of results. */
export interface Caller {
  once: (request: Request) => Promise<Outcome>;
  /** Repeats an idempotent request until its outcome is known; undefined when the time is up first, or its response is lost. */
  untilKnown: (request: Request) => Promise<{ status: number; body: unknown; etag: string | null; attempts: number } | undefined>;
  /** Responses by status; broken connections by error. */
  counts: Map<string, number>;
  /** Responses of 5xx other than a proper 503, with their requests. */
  dishonest: string[];
}

const ANSWER_MS = 10_000;
const AGAIN_MS = 100;
const GIVE_UP_MS = 120_000;

const getCause = (error: unknown): string => {
  const { code, name, cause } = error as { code?: unknown; name?: string; cause?: unknown };
  // The code of a timeout is a number.
  return cause === undefined ? (typeof code === 'string' ? code : (name ?? 'error')) : getCause(cause);
};

/** A proper 503 has the error envelope and a Retry-After. */
const isHonest = (response: Response, body: unknown): boolean =>
  response.status === 503 && response.headers.has('retry-after') && (body as { success?: unknown }).success === false;

const isInProgress = (body: unknown): boolean =>
  (body as { message?: string }).message === 'The first request with this key is still in progress';
/** The first request has done its work, and its process died before it could store the response: nobody knows the id of what it made. */
const isLost = (body: unknown): boolean =>
  (body as { message?: string }).message === 'The first request with this key completed, but its response was lost';

/** @param urls one address per API process; requests rotate over them without health checks, like a simple load balancer */
export function createCaller(urls: readonly string[]): Caller {
  let sentRequests = 0;
  const counts = new Map<string, number>();
  const dishonest: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

  const once = async ({ method, path, token, body, raw, headers = {} }: Request): Promise<Outcome> => {
    try {
      const url = urls[sentRequests++ % urls.length];
      const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(sent === undefined ? {} : { body: sent }),
      });
      const text = await response.text();
      const answer = (text === '' ? undefined : JSON.parse(text)) as unknown;
      count(String(response.status));
      // The process that took the first request may be dead: the key is free again after a while.
      if (response.status === 409 && isInProgress(answer)) return { known: false, why: 'in progress' };
      if (response.status < 500)
        return { known: true, status: response.status, body: answer, etag: response.headers.get('etag') };
      if (!isHonest(response, answer)) dishonest.push(`${method} ${path} answered ${response.status}: ${text.slice(0, 200)}`);
      return { known: false, why: String(response.status) };
    } catch (error) {
      const why = getCause(error);
      count(why);
      return { known: false, why };
    }
  };

  return {
    once,
    counts,
    dishonest,
    async untilKnown(request) {
      const deadline = Date.now() + GIVE_UP_MS;
      for (let attempts = 1; ; attempts += 1) {
        const outcome = await once(request);
        if (outcome.known && outcome.status === 409 && isLost(outcome.body)) return undefined;
        if (outcome.known) return { ...outcome, attempts };
        if (Date.now() > deadline) return undefined;
        await sleep(AGAIN_MS);
      }
    },
  };
}
