import { run } from '../../../db/statement.js';
import { checkCursor, isGiven, placeOf, presentChange, readChanges, type Changes } from './read-changes.js';
import { BEFORE_ALL, type Cursor, encodeCursor, type Position } from './cursor.js';
import type { EventStream } from './event-stream.js';
import { readRights } from './read-rights.js';
import type { LiveEvent } from './schema.js';

/** Changes that one reading takes. */
const READ_ROWS = 200;
/** Readings under way at once in a process: a thousand clients that connect again must not take every connection of the pool. */
const MAX_READINGS = 4;

let underWay = 0;
const waiting: (() => void)[] = [];

/** Does one reading after those that came before. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (underWay >= MAX_READINGS) await new Promise<void>((resolve) => waiting.push(resolve));
  else underWay += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else underWay -= 1;
  }
}

/** Returns an event as a stream sends it. */
export const toBytes = (event: LiveEvent): Buffer => Buffer.from(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);

/** Returns what tells a client a place without an event. */
export const signOf = (history: number, place: Position): Buffer =>
  Buffer.from(`id: ${encodeCursor(history, place, place.id === BEFORE_ALL ? Date.now() : undefined)}\n\n`);

/**
 * Reads the next changes of a stream from the database, with the rights of this moment. The stream ends if its credential has: that is looked at
 * after the changes, so none is given that came later than its end.
 */
const readNext = (stream: EventStream, idleSeconds: number): Promise<Changes> =>
  inTurn(async () => {
    const { db, follows, position, positionMs } = stream;
    const read = await readChanges(db, follows, { after: position, ms: positionMs, limit: READ_ROWS });
    if (read.rows.length === 0) return read;
    const rights = await readRights((statement, values) => run(db, statement, values), new Set([stream]), [], idleSeconds);
    if (!rights.isLive(stream)) stream.end();
    return read;
  });

/** Sends what was read. */
function give(stream: EventStream, { rows, history, last }: Changes): void {
  for (const row of rows) {
    if (isGiven(stream.follows, row, row.role)) stream.moveTo(placeOf(row), toBytes(presentChange(history, row)));
  }
  stream.moveTo(last);
}

/**
 * Reads for the first time, and sends what was found.
 * @throws CURSOR_EXPIRED
 */
export async function beginReading(stream: EventStream, cursor: Cursor | null, idleSeconds: number): Promise<Changes> {
  const read = await readNext(stream, idleSeconds);
  if (cursor) checkCursor(cursor, read);
  give(stream, read);
  // A client that got no event yet has a place to go on from.
  stream.send(signOf(read.history, read.last));
  return read;
}

/**
 * Sends everything until the stream has nothing left to read, or is gone. Returns the last reading; null if the client left. `idleSeconds`: after
 * which a session ends.
 * @throws any error of the database
 */
export async function readOn(stream: EventStream, idleSeconds: number): Promise<Changes | null> {
  for (;;) {
    await stream.whenDrained();
    if (stream.destroyed || stream.hasEnded) return null;
    const read = await readNext(stream, idleSeconds);
    give(stream, read);
    if (read.isWhole) return read;
  }
}
