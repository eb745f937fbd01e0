import { run } from '../../../db/statement.js';
import { queueRead } from '../../platform/database/batching/queue-read.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { Part } from '../../platform/endpoint/endpoint.js';
import { someRecordsStatement } from './list-work-items.sql.js';

/** Id and type of an item in a list. */
export interface ItemKey {
  id: string;
  type: string;
}

/** Wanted bytes of a part: written in a few milliseconds. */
const PART_BYTES = 128 * 1024;
const [MIN_ROWS, MAX_ROWS] = [4, 500];

/**
 * Reads a long list in parts: first the records already read, then those of `keys`, as many at once as their size allows. Each part is a statement
 * of its own, which checks permissions again. Omits items deleted in between.
 */
export async function* readWorkItems(ctx: Context, first: Part, keys: readonly ItemKey[], more: boolean): AsyncGenerator<Part> {
  if (first.rows > 0) yield { ...first, more: keys.length > 0 || more };
  let bytes = first.text.length / Math.max(1, first.rows) || PART_BYTES / MIN_ROWS;
  for (let at = 0; at < keys.length; ) {
    const rows = Math.max(MIN_ROWS, Math.min(MAX_ROWS, Math.floor(PART_BYTES / bytes)));
    const chunk = keys.slice(at, at + rows);
    const values = [chunk.map(({ id }) => id), chunk.map(({ type }) => type), requireUser(ctx)];
    const [found] = await queueRead(() => run<{ count: number; records: string | null }>(ctx.db, someRecordsStatement, values));
    at += rows;
    const { count = 0, records = null } = found ?? {};
    if (records === null) continue;
    bytes = records.length / count;
    yield { text: records, rows: count, more: at < keys.length || more };
  }
}
