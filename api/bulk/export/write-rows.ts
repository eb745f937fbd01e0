import { csvHead, csvLine } from '../formats/csv.js';
import { nextTurn } from '../../core/event-loop.js';
import type { Entity, ExportFormat } from '../rules.js';
import { inBuffers } from './in-buffers.js';
import { SOURCES } from './sources.sql.js';

/** Rows, each as JSON on one line. */
export type Lines = readonly string[];

async function* asJson(chunks: AsyncIterable<Lines>): AsyncGenerator<string[]> {
  let separator = '[\n';
  for await (const lines of chunks) {
    yield [separator, lines.join(',\n')];
    separator = ',\n';
  }
  yield [separator === '[\n' ? '[]\n' : '\n]\n'];
}

/** Lines that become cells before the event loop has a turn. */
const LINES_PER_PIECE = 200;

async function* asCsv(chunks: AsyncIterable<Lines>, entity: Entity): AsyncGenerator<string[]> {
  const columns = ['entity', ...SOURCES[entity].columns];
  yield [csvHead(columns)];
  for await (const lines of chunks) {
    for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
      yield lines
        .slice(at, at + LINES_PER_PIECE)
        .map((line) => csvLine(columns, JSON.parse(line) as Record<string, string | number | null>));
      await nextTurn();
    }
  }
}

/** Writes rows in a format: `ndjson` a row a line, `json` an array, `csv` a table of the one entity. */
export function writeRows(
  chunks: AsyncIterable<Lines>,
  format: ExportFormat,
  entities: readonly Entity[],
): AsyncGenerator<Buffer> {
  if (format === 'ndjson') return inBuffers(chunks, '\n');
  return inBuffers(format === 'json' ? asJson(chunks) : asCsv(chunks, entities[0] as Entity), '');
}
