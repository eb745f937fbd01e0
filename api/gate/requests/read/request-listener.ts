import { SharedListener } from '../../../platform/database/shared-listener.js';
import { DomainError } from '../../../platform/errors.js';
import type { Context } from '../../../platform/context.js';
import type { Logger } from '../../../platform/telemetry/log.js';
import { defineStatement } from '../../../../db/statement.js';

const CHANNEL = 'assent_requests';
/** Interval in ms of the look for changes that no notification told of, or that only time makes. */
const SWEEP_MS = 1_000;
const MAX_OF_CALLER = 10;
const MAX_OF_TEAM = 300;

/** $1 = request ids. How much has happened to each. A request past its time counts as changed. */
const seqStatement = defineStatement({
  name: 'request_seqs',
  text: /* sql */ `
    select request_id, seq + (status in ('pending', 'approved') and coalesce(use_until, expires_at) <= clock_timestamp())::int as seq
    from change_requests where request_id = any($1::uuid[])`,
});

interface Waiter {
  requestId: string;
  caller: string;
  team: string;
  seq: number;
  wake: () => void;
}

/**
 * Requests of a process that wait for a change: one LISTEN for all, and one statement a second over what they wait for, because a notification may be
 * lost with its connection.
 */
class RequestListener {
  private readonly waiting = new Map<string, Set<Waiter>>();
  private readonly counts = new Map<string, number>();
  private readonly listener: SharedListener;

  constructor(url: string) {
    this.listener = new SharedListener({
      url,
      channel: CHANNEL,
      name: 'assent-request-listener',
      sweepMs: SWEEP_MS,
      onNotification: (requestId) => this.wake(requestId),
      isIdle: () => this.waiting.size === 0,
      look: async (client) => {
        const { rows } = await client.query<{ request_id: string; seq: number }>({
          ...seqStatement,
          values: [[...this.waiting.keys()]],
        });
        for (const { request_id, seq } of rows) this.wake(request_id, seq);
      },
    });
  }

  /** Wakes those who wait for a request; with `seq` those who have seen less. */
  private wake(requestId: string, seq = Number.POSITIVE_INFINITY): void {
    for (const waiter of this.waiting.get(requestId) ?? []) if (waiter.seq < seq) waiter.wake();
  }

  private count(key: string, by: 1 | -1): void {
    const count = (this.counts.get(key) ?? 0) + by;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }

  /** @throws RATE_LIMIT_EXCEEDED */
  private checkRoom(key: string, max: number, whose: string): void {
    if ((this.counts.get(key) ?? 0) < max) return;
    throw new DomainError('RATE_LIMIT_EXCEEDED', `${whose} already waits for ${max} requests`, {
      headers: { 'Retry-After': '5' },
    });
  }

  /** Begins to wait. `done` resolves at the first change. @throws RATE_LIMIT_EXCEEDED */
  enter(about: Omit<Waiter, 'wake'>, log: Logger): { done: Promise<void>; close: () => void } {
    const { requestId, caller, team } = about;
    this.checkRoom(caller, MAX_OF_CALLER, 'The caller');
    this.checkRoom(team, MAX_OF_TEAM, 'The team');
    let wake = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const waiter: Waiter = { ...about, wake };
    const others = this.waiting.get(requestId) ?? new Set();
    this.waiting.set(requestId, others.add(waiter));
    this.count(caller, 1);
    this.count(team, 1);
    this.listener.open(log);
    return {
      done,
      close: () => {
        if (!others.delete(waiter)) return;
        if (others.size === 0) this.waiting.delete(requestId);
        this.count(caller, -1);
        this.count(team, -1);
        if (this.waiting.size === 0) this.listener.closeSoon();
      },
    };
  }

  /** Answers all that wait: this process stops. */
  stop(): void {
    for (const waiters of this.waiting.values()) for (const { wake } of waiters) wake();
  }
}

/** One for each database of this process. */
const listeners = new Map<string, RequestListener>();

/** Returns the listener of this process. */
function requestListener(url: string): RequestListener {
  const listener = listeners.get(url) ?? new RequestListener(url);
  listeners.set(url, listener);
  return listener;
}

/** Answers every request that waits: this process stops. */
export function stopWaitingRequests(): void {
  for (const listener of listeners.values()) listener.stop();
}

/** Calls the listener when the client closes its connection; returns a function that stops listening. */
export type OnHangUp = (listener: () => void) => () => void;

/**
 * Waits until more than `seq` has happened to a request, at most so many ms, or until the client has gone. No connection and no transaction is open
 * meanwhile. `readSeq` reads how much has happened by now.
 * @throws RATE_LIMIT_EXCEEDED the caller, or the team, waits too often
 */
export async function waitForChange(
  { config, log }: Pick<Context, 'config' | 'log'>,
  about: Omit<Waiter, 'wake'>,
  { ms, onHangUp, readSeq }: { ms: number; onHangUp: OnHangUp; readSeq: () => Promise<number> },
): Promise<void> {
  const waiting = requestListener(config.DATABASE_URL).enter(about, log);
  let timer: NodeJS.Timeout | undefined;
  let hangUp = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    hangUp = resolve;
  });
  const stopListening = onHangUp(() => hangUp());
  try {
    // Read after the wait has begun, so that no change falls between.
    if ((await readSeq()) <= about.seq) await Promise.race([waiting.done, end]);
  } finally {
    clearTimeout(timer);
    stopListening();
    waiting.close();
  }
}
