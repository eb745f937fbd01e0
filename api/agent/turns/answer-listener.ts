import pg from 'pg';
import type { Context } from '../../core/context.js';
import { ANSWER_CHANNEL } from './answer-channel.js';
import { endedTurnsStatement } from './submit-message.sql.js';

/** Interval in ms of the look that finds what no notification told. */
const SWEEP_MS = 1_000;
/** Time in ms after the last wait until the connection closes. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;

interface Waiter {
  resolve: () => void;
  /** The message is committed: a missing turn is gone, not yet to come. */
  isStored: boolean;
}

/**
 * Waits for the ends of turns: one LISTEN for all requests of a process, and one statement a second over all that wait, because a
 * notification may be lost with its connection. It has a connection of its own, so that waiting takes none from requests; the connection
 * exists only while a request waits, and shortly after.
 */
class AnswerListener {
  private readonly waiting = new Map<string, Waiter>();
  private client: pg.Client | undefined;
  private sweeping: NodeJS.Timeout | undefined;
  private closing: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isReady = false;
  /** Of the newest request. */
  private log: Context['log'] | undefined;

  constructor(private readonly url: string) {}

  /** Begins to wait for a message's answer, before it is stored, so that no notification is missed. */
  expect(messageId: string, log: Context['log']): Expectation {
    this.log = log;
    let resolve = (): void => undefined;
    const ended = new Promise<void>((done) => {
      resolve = done;
    });
    const waiter: Waiter = { resolve, isStored: false };
    this.waiting.set(messageId, waiter);
    this.open();
    return {
      stored: () => {
        waiter.isStored = true;
      },
      async within(ms) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<false>((done) => {
          timer = setTimeout(() => done(false), Math.max(ms, 0));
        });
        const isEnded = await Promise.race([ended.then(() => true), late]);
        clearTimeout(timer);
        return isEnded;
      },
      close: () => {
        this.waiting.delete(messageId);
        if (this.waiting.size === 0) this.closeSoon();
      },
    };
  }

  private open(): void {
    clearTimeout(this.closing);
    this.sweeping ??= setInterval(() => void this.look(), SWEEP_MS).unref();
    if (!this.client) void this.connect();
  }

  private closeSoon(): void {
    clearTimeout(this.closing);
    this.closing = setTimeout(() => {
      clearInterval(this.sweeping);
      clearTimeout(this.retry);
      this.sweeping = undefined;
      const { client } = this;
      this.client = undefined;
      this.isReady = false;
      void client?.end().catch(() => undefined);
    }, IDLE_MS).unref();
  }

  private async connect(): Promise<void> {
    clearTimeout(this.retry);
    if (this.client) return;
    const client = new pg.Client({
      connectionString: this.url,
      application_name: 'assent-answer-listener',
      connectionTimeoutMillis: 2_000,
      // A database that hangs must not keep the next look from happening.
      query_timeout: 5_000,
      keepAlive: true,
    });
    this.client = client;
    const reconnect = (error?: unknown): void => {
      if (this.client !== client) return;
      this.client = undefined;
      this.isReady = false;
      void client.end().catch(() => undefined);
      if (this.waiting.size === 0) return;
      this.log?.warn({ err: error }, 'answer listener reconnecting');
      this.retry = setTimeout(() => void this.connect(), RETRY_MS).unref();
    };
    client.on('notification', ({ payload = '' }) => this.waiting.get(payload)?.resolve());
    client.on('error', reconnect);
    client.on('end', reconnect);
    try {
      await client.connect();
      await client.query(`listen ${ANSWER_CHANNEL}`);
      this.isReady = true;
      await this.look();
    } catch (error) {
      reconnect(error);
    }
  }

  /** Resolves everything that has ended. One look at a time; the next second looks again. */
  private async look(): Promise<void> {
    const { client } = this;
    const stored = [...this.waiting].flatMap(([id, { isStored }]) => (isStored ? [id] : []));
    if (!client || !this.isReady || stored.length === 0 || this.isLooking) return;
    this.isLooking = true;
    try {
      const { rows } = await client.query<{ message_id: string }>({ ...endedTurnsStatement, values: [stored] });
      for (const { message_id } of rows) this.waiting.get(message_id)?.resolve();
    } catch (error) {
      this.log?.warn({ err: error }, 'waiting answers not read; retrying');
    } finally {
      this.isLooking = false;
    }
  }
}

/** A request that waits for one answer. */
export interface Expectation {
  /** The message is committed. */
  stored: () => void;
  /** Returns true once the turn has ended, false after the time. May be called again. */
  within: (ms: number) => Promise<boolean>;
  close: () => void;
}

/** One listener for each database of this process. */
const listeners = new Map<string, AnswerListener>();

/** Begins to wait for the answer to a message that is about to be stored. */
export function expectAnswer({ config, log }: Pick<Context, 'config' | 'log'>, messageId: string): Expectation {
  const listener = listeners.get(config.DATABASE_URL) ?? new AnswerListener(config.DATABASE_URL);
  listeners.set(config.DATABASE_URL, listener);
  return listener.expect(messageId, log);
}
