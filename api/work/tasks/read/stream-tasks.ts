import { run } from '../../../../db/statement.js';
import { queueRead } from '../../../platform/database/batching/queue-read.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { recordsStatement, recordsWithFieldsStatement } from './list-tasks.sql.js';
import { type ListedTask, splitLines } from './task-columns.js';
import { type Placed, TreeText } from './nesting.js';

/** Maximum of tasks and bytes of a chunk, which is written in a few milliseconds. A larger task is a chunk of its own. */
const [CHUNK, CHUNK_BYTES] = [500, 256 * 1024];
/** Chunks read in parallel: one PostgreSQL process writes JSON on one core. */
const READ_AHEAD = 2;

/** A chunk: its records by id, or PostgreSQL's own lines if nothing is nested, missing or out of order. */
interface Piece {
  placed: Placed<ListedTask>[];
  records: Map<string, string>;
  lines: string | null;
}

/** Logs the error and aborts the response: the status is already sent, and the client must not take the list for complete. */
function abort({ log }: Context, cause: unknown): never {
  log.error({ err: cause }, 'a list broke off');
  // `expose` keeps Koa from printing it again.
  throw Object.assign(new Error('The list was interrupted', { cause }), { expose: true });
}

/** Returns where the chunk ends that begins here. */
function endOfChunk(order: Placed<ListedTask>[], from: number): number {
  let bytes = 0;
  let at = from;
  do bytes += order[at++]?.row.bytes ?? 0;
  while (at < Math.min(order.length, from + CHUNK) && bytes + (order[at]?.row.bytes ?? 0) <= CHUNK_BYTES);
  return at;
}

/**
 * Streams a long list in the given order. The next chunks are read in separate statements while the previous ones are sent. So a
 * slow reader occupies no connection, and permissions are checked again. Omits tasks deleted in between. `preloaded` holds
 * records already read; one written to since its mark was taken is read again.
 */
export async function* streamTasks(
  ctx: Context,
  order: Placed<ListedTask>[],
  preloaded: (ListedTask & { json: string })[],
  { flat, withFields = false }: { flat: boolean; withFields?: boolean },
): AsyncGenerator<string> {
  const statement = withFields ? recordsWithFieldsStatement : recordsStatement;
  const preloadedById = new Map(preloaded.map(({ task_id, mark, json }) => [task_id, { mark, json }]));

  const read = async (placed: Placed<ListedTask>[]): Promise<Piece> => {
    const records = new Map<string, string>();
    const missing: string[] = [];
    for (const { row } of placed) {
      const preread = preloadedById.get(row.task_id);
      preloadedById.delete(row.task_id);
      if (preread?.mark === row.mark) records.set(row.task_id, preread.json);
      else missing.push(row.task_id);
    }
    if (missing.length === 0) return { placed, records, lines: null };
    const values = [missing, requireUser(ctx), rolesFor('task.list')];
    const [found] = await queueRead(() => run<{ ids: string | null; records: string | null }>(ctx.db, statement, values));
    const [ids, lines] = [found?.ids ?? null, found?.records ?? null];
    if (records.size === 0 && placed.every(({ level }) => level === 0) && ids === missing.join('\n'))
      return { placed, records, lines };
    const texts = splitLines(lines);
    splitLines(ids).forEach((id, i) => records.set(id, texts[i] as string));
    return { placed, records, lines: null };
  };

  const ahead: Promise<Piece>[] = [];
  let at = 0;
  const readNext = (): void => {
    const from = at;
    if (from >= order.length) return;
    at = endOfChunk(order, from);
    const piece = read(order.slice(from, at));
    // If the client stops reading, nobody awaits this promise; otherwise its error surfaces when it is awaited.
    piece.catch(() => undefined);
    ahead.push(piece);
  };
  for (let nth = 0; nth < READ_AHEAD; nth += 1) readNext();

  const text = new TreeText(flat);
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    const { placed, records, lines } = await next.catch((cause: unknown) => abort(ctx, cause));
    readNext();
    if (lines !== null) yield text.addLines(lines);
    else yield placed.map(({ row, level }) => text.add(records.get(row.task_id), level)).join('');
  }
  yield text.end();
}
