import { nextTurn } from '../../platform/event-loop.js';
import { csvHead, csvLine } from '../formats/csv.js';
import type { Entity, ExportFormat } from '../rules.js';
import { SOURCES } from './sources.sql.js';

/** Rows as JSON, one a line with a line feed, in buffers of whole lines. */
export interface Rows {
  count: number;
  bytes: readonly Buffer[];
}

const splitLines = (bytes: Buffer): string[] => bytes.toString().slice(0, -1).split('\n');

async function* asNdjson(chunks: AsyncIterable<Rows>): AsyncGenerator<Buffer> {
  for await (const { bytes } of chunks) yield* bytes;
}

async function* asJson(chunks: AsyncIterable<Rows>): AsyncGenerator<Buffer> {
  let separator = '[\n';
  for await (const { bytes } of chunks) {
    for (const each of bytes) {
      yield Buffer.from(separator + splitLines(each).join(',\n'));
      separator = ',\n';
    }
  }
  yield Buffer.from(separator === '[\n' ? '[]\n' : '\n]\n');
}

/** Lines that become cells before the event loop has a turn. */
const LINES_PER_PIECE = 200;

async function* asCsv(chunks: AsyncIterable<Rows>, entity: Entity): AsyncGenerator<Buffer> {
  const columns = ['entity', ...SOURCES[entity].columns];
  const splitCells = (line: string) => csvLine(columns, JSON.parse(line) as Record<string, string | number | null>);
  yield Buffer.from(csvHead(columns));
  for await (const { bytes } of chunks) {
    for (const lines of bytes.map(splitLines)) {
      for (let at = 0; at < lines.length; at += LINES_PER_PIECE) {
        yield Buffer.from(
          lines
            .slice(at, at + LINES_PER_PIECE)
            .map(splitCells)
            .join(''),
        );
        await nextTurn();
      }
    }
  }
}

/** Writes rows in a format: `ndjson` a row a line, `json` an array, `csv` a table of the one entity. */
export function writeRows(
  chunks: AsyncIterable<Rows>,
  format: ExportFormat,
  entities: readonly Entity[],
): AsyncGenerator<Buffer> {
  if (format === 'ndjson') return asNdjson(chunks);
  return format === 'json' ? asJson(chunks) : asCsv(chunks, entities[0] as Entity);
}
