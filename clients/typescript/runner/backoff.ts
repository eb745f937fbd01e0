import { setTimeout as sleep } from 'node:timers/promises';
import { ServerAway } from './api.js';

const FIRST_MS = 1_000;
const MAX_MS = 30_000;

/** Exponential delays with jitter, so that many runners do not return at the same moment. */
export class Backoff {
  #attempt = 0;

  constructor(private readonly firstMs = FIRST_MS) {}

  reset(): void {
    this.#attempt = 0;
  }

  /** Returns the next delay in ms: at least what the service asked for, at most 30 seconds otherwise. */
  next(error?: unknown): number {
    const longest = Math.min(MAX_MS, this.firstMs * 2 ** Math.min(this.#attempt++, 10));
    const asked = error instanceof ServerAway ? (error.retryAfterMs ?? 0) : 0;
    return asked + longest * (0.5 + Math.random() / 2);
  }

  /** Waits for the next delay. @throws the signal's reason when it aborts */
  async wait(error: unknown, signal?: AbortSignal): Promise<void> {
    await sleep(this.next(error), undefined, signal ? { signal } : {});
  }
}
