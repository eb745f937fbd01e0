import type { Knex } from 'knex';
import { poolOf } from '../../../db/knex-internals.js';
import type { Context } from '../context.js';
import { wasRolledBack } from '../database-errors.js';

/** One write: whose it is, and what it wants. */
export interface WriteRequest<Item> {
  ctx: Context;
  item: Item;
}

interface Writer<Item, Result> {
  /** Two writes of the same key never go together. */
  keyOf: (item: Item) => unknown;
  /**
   * Writes all of them in one statement that waits for nobody's row; answers in their order. Undefined for what it left alone,
   * whatever the reason. What it throws has undone all of them, unless the connection broke.
   */
  write: (db: Knex, wanted: WriteRequest<Item>[]) => Promise<(Result | undefined)[]>;
  /** Writes one by itself: waits for locks, and says why not. */
  alone: (ctx: Context, item: Item) => Promise<Result>;
}

interface PendingWrite<Item, Result> extends WriteRequest<Item> {
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/** Writes of one statement, so that none has to wait for many. */
const MAX_BATCH_SIZE = 32;
/** A statement that takes longer, ms, no longer keeps the next from starting: how many there may be is then the pool's to say. */
const LATE_MS = 100;

/** Writes of one pool that wait, and those that are under way. */
class Queue<Item, Result> {
  private waiting: PendingWrite<Item, Result>[] = [];
  private busy = false;

  constructor(
    private readonly db: Knex,
    private readonly writer: Writer<Item, Result>,
  ) {}

  ask(ctx: Context, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ctx, item, resolve, reject });
      this.go();
    });
  }

  /** One statement at a time: a second beside it would take half of what waits and cost as much as the first. */
  private go(): void {
    if (this.busy || this.waiting.length === 0) return;
    this.busy = true;
    this.start(this.next());
  }

  private start(batch: PendingWrite<Item, Result>[]): void {
    let holds = true;
    const free = (): void => {
      if (!holds) return;
      holds = false;
      this.busy = false;
      this.go();
    };
    const late = setTimeout(free, LATE_MS);
    void this.write(batch).finally(() => {
      clearTimeout(late);
      free();
    });
  }

  /** What goes next, in the order of arrival; of writes with one key the first. */
  private next(): PendingWrite<Item, Result>[] {
    const keys = new Set<unknown>();
    const next: PendingWrite<Item, Result>[] = [];
    this.waiting = this.waiting.filter((asked) => {
      const key = this.writer.keyOf(asked.item);
      if (next.length === MAX_BATCH_SIZE || keys.has(key)) return true;
      keys.add(key);
      next.push(asked);
      return false;
    });
    return next;
  }

  private async write(batch: PendingWrite<Item, Result>[]): Promise<void> {
    const { write, alone } = this.writer;
    let results: (Result | undefined)[] = [];
    try {
      results = await write(this.db, batch);
    } catch (error) {
      if (!wasRolledBack(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
    }
    // Not awaited: what waits for somebody's lock holds up nobody else.
    for (const [i, { ctx, item, resolve }] of batch.entries()) resolve(results[i] ?? alone(ctx, item));
  }
}

/**
 * Writes that come while others are under way go together: one statement and one commit, each in its own caller's name and by its
 * own caller's rights. A write that comes alone goes at once. Whatever does not simply succeed goes alone after it, so no caller
 * meets a neighbour's refusal, failure or lock: the write was then no part of what was committed, or PostgreSQL has undone all of
 * it. Where the connection broke nobody knows, and each caller is told so. Inside a transaction a write goes alone.
 * @throws what `alone` throws
 * Source: docs/adr/0012; performance notes, 4.
 */
export function coalesceWrites<Item, Result>(writer: Writer<Item, Result>): Writer<Item, Result>['alone'] {
  const queues = new WeakMap<Knex, Queue<Item, Result>>();
  return (ctx, item) => {
    if (ctx.db.isTransaction) return writer.alone(ctx, item);
    const pool = poolOf(ctx.db);
    let queue = queues.get(pool);
    if (!queue) queues.set(pool, (queue = new Queue(pool, writer)));
    return queue.ask(ctx, item);
  };
}
