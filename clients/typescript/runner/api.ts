/** Calls of the service, as the daemon makes them. They are all outbound. */

/** Time for an answer, and for that of a claim, which waits up to 25 seconds. */
const TIMEOUT_MS = 15_000;
const CLAIM_TIMEOUT_MS = 40_000;
const CLAIM_WAIT_SECONDS = 25;
/** The longest answer is a job: its command and its variables, with secrets. */
const MAX_ANSWER_BYTES = 4_194_304;

/** Nothing answered, or not now: the same call may succeed later. */
export class ServerAway extends Error {
  override readonly name = 'ServerAway';
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The service refused the call, and would refuse it again. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly status: number,
    message: string,
    /** The whole envelope, with members of this error such as `expected_offset`. */
    readonly envelope: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** A job as the service hands it over. `env` holds the values of secrets; `masked` names those variables. */
export interface ClaimedJob {
  job_id: string;
  command: string;
  env: Record<string, string>;
  masked: string[];
  timeout_seconds: number;
  lease_seconds: number;
  heartbeat_seconds: number;
}

/** How a job ended, as reported. `output` has at most 64 kB. */
export interface Report {
  status: 'succeeded' | 'failed';
  exit_code: number | null;
  output?: string;
}

export interface Registered {
  runner_id: string;
  runner_token: string;
  team_id: string;
  name: string;
  labels: string[];
}

interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the delay that a Retry-After header asks for, in ms. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d{1,4}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** What went wrong below HTTP, such as ECONNREFUSED. `fetch` hides it in the cause. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = isObject(cause) && typeof cause['code'] === 'string' ? cause['code'] : undefined;
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}

/** @throws {ServerAway} for an answer that no service of this kind sends: it must not fill the memory */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new ServerAway(`an answer ${response.status} of more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readAnswer(response: Response): Promise<unknown> {
  const text = await readText(response);
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ServerAway(`an answer ${response.status} that is not JSON: is this the address of the service?`);
  }
}

function buildError(response: Response, body: unknown): Error {
  const { status } = response;
  const envelope = isObject(body) ? body : {};
  const message = typeof envelope['message'] === 'string' ? envelope['message'] : `HTTP ${status}`;
  if (status >= 500 || status === 429 || status === 408) {
    return new ServerAway(`${status} ${message}`, retryAfterMs(response.headers.get('Retry-After')));
  }
  return new Refused(status, message, envelope);
}

export class RunnerApi {
  constructor(
    readonly url: string,
    /** Undefined until the runner is registered. */
    readonly token?: string,
  ) {}

  /** @throws {Refused} 401 the token is unknown, used or expired | {ServerAway} */
  async register(body: { token: string; name: string; labels: string[]; version: string }): Promise<Registered> {
    const answer = await this.#post('/api/runners/register', body);
    if (!isObject(answer) || typeof answer['runner_token'] !== 'string') throw new ServerAway('the answer has no runner token');
    return answer as unknown as Registered;
  }

  /**
   * Waits for a job, up to 25 seconds.
   * @returns undefined if none came
   * @throws {Refused} 401 the runner was deleted, 409 it still holds a job | {ServerAway}
   */
  async claim(version: string, signal: AbortSignal): Promise<ClaimedJob | undefined> {
    const body = { wait_seconds: CLAIM_WAIT_SECONDS, version };
    return (await this.#post('/api/runners/claim', body, { signal, timeoutMs: CLAIM_TIMEOUT_MS })) as ClaimedJob | undefined;
  }

  /** @throws {Refused} 409, 404 the job is no longer this runner's | {ServerAway} */
  async heartbeat(jobId: string, options?: CallOptions): Promise<{ cancel: boolean }> {
    return (await this.#post(`/api/runners/jobs/${jobId}/heartbeat`, {}, options)) as { cancel: boolean };
  }

  /**
   * `offset`: bytes sent before, as UTF-8.
   * @throws {Refused} 409 a gap (`expected_offset`) or no longer this runner's job, 413 the log is full | {ServerAway}
   */
  async sendLog(
    jobId: string,
    body: { chunk: string; offset: number },
    options?: CallOptions,
  ): Promise<{ next_offset: number; truncated: boolean; cancel: boolean }> {
    const answer = await this.#post(`/api/runners/jobs/${jobId}/logs`, body, options);
    return answer as { next_offset: number; truncated: boolean; cancel: boolean };
  }

  /** @throws {Refused} 409, 404 the job ended otherwise | {ServerAway} */
  async complete(jobId: string, report: Report, options?: CallOptions): Promise<{ status: string }> {
    return (await this.#post(`/api/runners/jobs/${jobId}/complete`, report, options)) as { status: string };
  }

  async #post(path: string, body: unknown, { signal, timeoutMs = TIMEOUT_MS }: CallOptions = {}): Promise<unknown> {
    // One controller a call: a signal that is combined with one that lives as long as the daemon would never be freed.
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    let response: Response;
    let answer: unknown;
    try {
      signal?.throwIfAborted();
      response = await fetch(`${this.url}${path}`, {
        method: 'POST',
        // The token goes to this address and to no other.
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...(this.token ? { authorization: `Bearer ${this.token}` } : {}) },
        body: JSON.stringify(body),
        signal: controller.signal,
      });
      answer = await readAnswer(response);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof ServerAway) throw error;
      throw new ServerAway(controller.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : networkReason(error));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    if (!response.ok) throw buildError(response, answer);
    if (answer === undefined && response.status !== 204) throw new ServerAway(`an empty answer ${response.status}`);
    return answer;
  }
}
