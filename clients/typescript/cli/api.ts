import { setTimeout as sleep } from 'node:timers/promises';
import { AssentError } from '../errors.js';
import { createClient } from '../index.js';
import { backoffMs, retryAfterMs } from '../retry.js';
import type { Arguments, OperationId, Result } from '../types.js';
import { isAway, NotAssent } from './exit.js';

/** Calls about change requests, on the client's transport. */

export type ChangeRequest = Result<'getChangeRequest'>;
export type Decision = ChangeRequest['decisions'][number];
export type Redeemed = Result<'redeemChangeRequest'>;
export type Me = Result<'getMe'>;
type Body<Id extends OperationId> = Arguments<Id> extends { body: infer B } ? B : never;
export type Outcome = Body<'reportChangeRequestOutcome'>;

/** The longest that the service holds a read. */
const WAIT_SECONDS = 25;
const TIMEOUT_MS = 15_000;
const WAIT_TIMEOUT_MS = 40_000;
const MAX_DELAY_MS = 15_000;

type Client = ReturnType<typeof createClient>;

/** Returns the ms before the next attempt: what the service asked for, otherwise ever longer with jitter, up to 15 s. */
const delayMs = (attempt: number, error: unknown): number => {
  const asked = error instanceof AssentError ? retryAfterMs(error.headers.get('Retry-After')) : undefined;
  return asked ?? Math.min(MAX_DELAY_MS, backoffMs(attempt));
};

export interface Persistence {
  /** Ms since 1970. */
  until: number;
  signal?: AbortSignal;
  /** The service is away: called at the first failed attempt in a row. */
  onAway?: (error: unknown) => void;
}

/**
 * Repeats a call while the service is away.
 * @throws the last error once the time is over, every other error at once, and the reason of the signal
 */
export async function persist<T>(call: () => Promise<T>, { until, signal, onAway }: Persistence): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isAway(error) || Date.now() >= until) throw error;
      if (attempt === 0) onAway?.(error);
      const delay = Math.min(delayMs(attempt, error), Math.max(0, until - Date.now()));
      await sleep(delay, undefined, signal ? { signal } : {}).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }
}

/** The token goes to this address and to no other. */
const fetchHere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' });

export class Api {
  /** One that repeats by itself, and one whose caller repeats. */
  readonly #client: Client;
  readonly #once: Client;
  readonly #waiting: Client;
  /** By how much the clock of the service is ahead of ours, ms. */
  #aheadMs = 0;

  constructor(
    readonly url: string,
    token: string | undefined,
  ) {
    const noteClock: typeof fetch = async (...args) => {
      const response = await fetchHere(...args);
      const at = Date.parse(response.headers.get('Date') ?? '');
      if (!Number.isNaN(at)) this.#aheadMs = at - Date.now();
      return response;
    };
    const options = { baseUrl: url, fetch: noteClock, ...(token === undefined ? {} : { token }) };
    this.#client = createClient({ ...options, timeoutMs: TIMEOUT_MS, maxRetryDelayMs: MAX_DELAY_MS });
    this.#once = createClient({ ...options, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
    this.#waiting = createClient({ ...options, timeoutMs: WAIT_TIMEOUT_MS, maxRetries: 0 });
  }

  /** Returns a time of the service as this clock shows it, ms since 1970. */
  toLocal(time: string): number {
    return Date.parse(time) - this.#aheadMs;
  }

  getMe(): Promise<Me> {
    return checked(this.#client.getMe(), 'teams');
  }

  /** Names of the members of a team by their ids; empty where the token may not read them. */
  async listNames(teamId: string): Promise<Map<string, string>> {
    const members: unknown = await this.#once.listMembers({ path: { team_id: teamId } }).catch(() => []);
    const known = Array.isArray(members) ? (members as Result<'listMembers'>) : [];
    return new Map(known.map(({ user_id, name, email }) => [user_id, name ?? email]));
  }

  /** `operations` is JSON as the user wrote it: the service judges each of its numbers. */
  create(fields: object, operations: string): Promise<ChangeRequest> {
    const bytes = new Blob([`${JSON.stringify(fields).slice(0, -1)},"operations":${operations}}`]);
    const body = bytes as unknown as Body<'createChangeRequest'>;
    return checked(this.#client.createChangeRequest({ body, headers: { 'Content-Type': 'application/json' } }), 'request_hash');
  }

  list(query: NonNullable<Arguments<'listChangeRequests'>['query']>): Promise<Result<'listChangeRequests'>> {
    return checked(this.#client.listChangeRequests({ query }), 'requests');
  }

  get(requestId: string): Promise<ChangeRequest> {
    return checked(this.#client.getChangeRequest(at(requestId)), 'request_hash');
  }

  /** Returns the request once it has changed since `seen`, or at the end of this time, at most 25 seconds. */
  poll(requestId: string, seen: number, ms: number, signal?: AbortSignal): Promise<ChangeRequest> {
    const wait = Math.min(WAIT_SECONDS, Math.max(1, Math.ceil(ms / 1_000)));
    return checked(
      this.#waiting.getChangeRequest({ ...at(requestId), query: { wait, seen }, ...(signal && { signal }) }),
      'request_hash',
    );
  }

  approve(requestId: string, body: Body<'approveChangeRequest'>): Promise<Result<'approveChangeRequest'>> {
    return checked(this.#client.approveChangeRequest({ ...at(requestId), body }), 'approvals_needed');
  }

  reject(requestId: string, body: Body<'rejectChangeRequest'>): Promise<ChangeRequest> {
    return checked(this.#client.rejectChangeRequest({ ...at(requestId), body }), 'request_hash');
  }

  cancel(requestId: string, reason?: string): Promise<ChangeRequest> {
    return checked(
      this.#client.cancelChangeRequest({ ...at(requestId), body: reason === undefined ? {} : { reason } }),
      'request_hash',
    );
  }

  /** One attempt: the caller repeats it under the same redemption id. */
  redeem(requestId: string, body: Body<'redeemChangeRequest'>, signal?: AbortSignal): Promise<Redeemed> {
    return checked(this.#once.redeemChangeRequest({ ...at(requestId), body, ...(signal && { signal }) }), 'operation_texts');
  }

  /** One attempt; the same report again changes nothing. */
  report(requestId: string, body: Outcome): Promise<ChangeRequest> {
    return checked(this.#once.reportChangeRequestOutcome({ ...at(requestId), body }), 'request_hash');
  }

  getReceiptKeys(): Promise<Result<'getReceiptKeys'>> {
    return checked(this.#client.getReceiptKeys(), 'keys');
  }
}

/** Passes on an object that has this member. @throws {NotAssent} a success of another service, such as the page of a network */
async function checked<T extends object>(sent: Promise<T>, member: keyof T): Promise<T> {
  const content = (await sent) as T | string | null;
  if (typeof content !== 'object' || content === null || !(member in content)) throw new NotAssent();
  return content;
}

const at = (requestId: string) => ({ path: { request_id: requestId } });
