import { csvHead, csvLine } from '../formats/csv.js';
import type { Entity, ExportFormat } from '../rules.js';
import { SOURCES } from './sources.sql.js';

/** Rows of one kind, each as JSON on one line. */
export interface Rows {
  entity: Entity;
  lines: readonly string[];
}

async function* asNdjson(chunks: AsyncIterable<Rows>): AsyncGenerator<string> {
  for await (const { lines } of chunks) yield `${lines.join('\n')}\n`;
}

async function* asJson(chunks: AsyncIterable<Rows>): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const { lines } of chunks) {
    yield separator + lines.join(',\n');
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

/** Lines that become cells before the event loop has a turn. */
const LINES_PER_PIECE = 200;

async function* asCsv(chunks: AsyncIterable<Rows>, entity: Entity): AsyncGenerator<string> {
  const columns = ['entity', ...SOURCES[entity].columns];
  yield csvHead(columns);
  for await (const { lines } of chunks) {
    for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
      const piece = lines.slice(at, at + LINES_PER_PIECE);
      yield piece.map((line) => csvLine(columns, JSON.parse(line) as Record<string, string | number | null>)).join('');
    }
  }
}

/** Writes rows in a format: `ndjson` a row a line, `json` an array, `csv` a table of the one entity. */
export function writeRows(
  chunks: AsyncIterable<Rows>,
  format: ExportFormat,
  entities: readonly Entity[],
): AsyncGenerator<string> {
  if (format === 'ndjson') return asNdjson(chunks);
  return format === 'json' ? asJson(chunks) : asCsv(chunks, entities[0] as Entity);
}
