import { run } from '../../../db/statement.js';
import { type Context, userOf } from '../../core/context.js';
import { recordsStatement } from './list-tasks.sql.js';
import { type ListedTask, linesOf } from './task-columns.js';
import { type Placed, TreeText } from './nesting.js';

/** Tasks of one piece: about half a megabyte, written in a few milliseconds. */
const CHUNK = 500;
/** Pieces that are read at the same time: while PostgreSQL writes records as JSON, one of its processes has one core. */
const AHEAD = 2;

/** What was read of a piece: its records by id, or where nothing is nested, gone or out of order the lines as PostgreSQL wrote them. */
interface Piece {
  placed: Placed<ListedTask>[];
  records: Map<string, string>;
  lines: string | null;
}

/** The status is sent already: all that is left is to log it and to cut the answer off, so that nobody takes it for whole. */
function breakOff({ log }: Context, cause: unknown): never {
  log.error({ err: cause }, 'a list broke off');
  // `expose` keeps Koa from printing it once more.
  throw Object.assign(new Error('The list broke off', { cause }), { expose: true });
}

/**
 * Writes a long list piece by piece, in the order given. Each piece is read while those before it are on their way, by a statement
 * of its own: no connection is held while a slow reader takes its time, and the rights are checked anew (durability notes, 3.7).
 * A task that has gone meanwhile is left out. `atHand` are records that were read already; one that was written to since its mark
 * was taken is read again.
 */
export async function* streamTasks(
  ctx: Context,
  order: Placed<ListedTask>[],
  atHand: (ListedTask & { json: string })[],
  flat: boolean,
): AsyncGenerator<string> {
  const kept = new Map(atHand.map(({ task_id, mark, json }) => [task_id, { mark, json }]));

  const read = async (at: number): Promise<Piece> => {
    const placed = order.slice(at, at + CHUNK);
    const records = new Map<string, string>();
    const missing: string[] = [];
    for (const { row } of placed) {
      const held = kept.get(row.task_id);
      kept.delete(row.task_id);
      if (held?.mark === row.mark) records.set(row.task_id, held.json);
      else missing.push(row.task_id);
    }
    if (missing.length === 0) return { placed, records, lines: null };
    const [found] = await run<{ ids: string | null; records: string | null }>(ctx.db, recordsStatement, [missing, userOf(ctx)]);
    const [ids, lines] = [found?.ids ?? null, found?.records ?? null];
    if (records.size === 0 && placed.every(({ level }) => level === 0) && ids === missing.join('\n'))
      return { placed, records, lines };
    const texts = linesOf(lines);
    linesOf(ids).forEach((id, i) => records.set(id, texts[i] as string));
    return { placed, records, lines: null };
  };

  const ahead: Promise<Piece>[] = [];
  const ask = (at: number): void => {
    const piece = read(at);
    // Who stops reading never waits for it; who goes on meets its error in its turn.
    piece.catch(() => undefined);
    ahead.push(piece);
  };
  for (let nth = 0; nth < AHEAD; nth += 1) ask(nth * CHUNK);

  const text = new TreeText(flat);
  for (let at = 0; at < order.length; at += CHUNK) {
    const { placed, records, lines } = await (ahead.shift() as Promise<Piece>).catch((cause: unknown) => breakOff(ctx, cause));
    ask(at + AHEAD * CHUNK);
    if (lines !== null) yield text.addLines(lines);
    else yield placed.map(({ row, level }) => text.add(records.get(row.task_id), level)).join('');
  }
  yield text.end();
}
