import type { Knex } from 'knex';
import { wrapPool } from '../../../../db/knex-internals.js';
import type { Context } from '../../context.js';
import { wasRolledBack } from '../database-errors.js';

/** One write: its caller and its item. */
export interface WriteRequest<Item> {
  ctx: Context;
  item: Item;
}

interface Writer<Item, Result> {
  /** Two writes with the same key never share a statement. */
  getKey: (item: Item) => unknown;
  /**
   * Writes all items in one statement that waits for no row lock. Returns results in item order; undefined for items it skipped. An
   * error means that nothing was written, unless the connection broke.
   */
  write: (db: Knex, wanted: WriteRequest<Item>[]) => Promise<(Result | undefined)[]>;
  /** Writes one item, waits for locks and throws the reason of a rejection. */
  alone: (ctx: Context, item: Item) => Promise<Result>;
}

interface PendingWrite<Item, Result> extends WriteRequest<Item> {
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/** Bounds the wait of each write in a batch. */
const MAX_BATCH_SIZE = 32;
/** After this time, in ms, a running statement no longer blocks the next one; the pool then limits concurrency. */
const LATE_MS = 100;

/** Queued and running writes of one pool. */
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

  /** One statement at a time: a second one would take half of the queue and cost as much as the first. */
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

  /** Takes the next batch in order of arrival, with at most one write per key. */
  private next(): PendingWrite<Item, Result>[] {
    const keys = new Set<unknown>();
    const next: PendingWrite<Item, Result>[] = [];
    this.waiting = this.waiting.filter((asked) => {
      const key = this.writer.getKey(asked.item);
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
    // Not awaited: a lock wait must not block the batch.
    for (const [i, { ctx, item, resolve }] of batch.entries()) resolve(results[i] ?? alone(ctx, item));
  }
}

/**
 * Coalesces concurrent writes into one statement and commit; each keeps its own caller and permissions. A lone write starts at
 * once. A write that does not simply succeed is repeated alone, so no caller sees another's rejection, error or lock wait: it was
 * skipped, or PostgreSQL rolled back the whole batch. After a lost connection the outcome is unknown, and each caller gets that
 * error. Inside a transaction a write runs alone. See docs/adr/0012-coalesced-writes.md.
 * @throws what `alone` throws
 */
export function coalesceWrites<Item, Result>(writer: Writer<Item, Result>): Writer<Item, Result>['alone'] {
  const queues = new WeakMap<Knex, Queue<Item, Result>>();
  return (ctx, item) => {
    if (ctx.db.isTransaction) return writer.alone(ctx, item);
    const pool = wrapPool(ctx.db);
    let queue = queues.get(pool);
    if (!queue) queues.set(pool, (queue = new Queue(pool, writer)));
    return queue.ask(ctx, item);
  };
}
