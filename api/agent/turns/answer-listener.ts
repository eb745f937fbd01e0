import type { Context } from '../../platform/context.js';
import { SharedListener } from '../../platform/database/shared-listener.js';
import { ANSWER_CHANNEL } from './answer-channel.js';
import { endedTurnsStatement } from './submit-message.sql.js';

const SWEEP_MS = 1_000;

interface Waiter {
  resolve: () => void;
  /** The message is committed: a missing turn is gone, not yet to come. */
  isStored: boolean;
}

/**
 * Waits for the ends of turns: one LISTEN for all requests of a process, and one statement a second over all that wait, because a
 * notification may be lost with its connection.
 */
class AnswerListener {
  private readonly waiting = new Map<string, Waiter>();
  private readonly listener: SharedListener;

  constructor(url: string) {
    this.listener = new SharedListener({
      url,
      channel: ANSWER_CHANNEL,
      name: 'assent-answer-listener',
      sweepMs: SWEEP_MS,
      onNotification: (messageId) => this.waiting.get(messageId)?.resolve(),
      isIdle: () => this.waiting.size === 0,
      look: async (client) => {
        const stored = [...this.waiting].flatMap(([id, { isStored }]) => (isStored ? [id] : []));
        if (stored.length === 0) return;
        const { rows } = await client.query<{ message_id: string }>({ ...endedTurnsStatement, values: [stored] });
        for (const { message_id } of rows) this.waiting.get(message_id)?.resolve();
      },
    });
  }

  /** Begins to wait for a message's answer, before it is stored, so that no notification is missed. */
  expect(messageId: string, log: Context['log']): Expectation {
    let resolve = (): void => undefined;
    const ended = new Promise<void>((done) => {
      resolve = done;
    });
    const waiter: Waiter = { resolve, isStored: false };
    this.waiting.set(messageId, waiter);
    this.listener.open(log);
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
        if (this.waiting.size === 0) this.listener.closeSoon();
      },
    };
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
