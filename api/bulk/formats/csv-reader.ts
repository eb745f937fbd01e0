import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { InputError, MAX_LINE_BYTES, MAX_LINES, tooManyLines } from './input.js';

/** Columns of one file. Jira repeats a column for each value, so there may be hundreds. */
export const MAX_COLUMNS = 2_000;

/** A record of a CSV file by its columns; a column of several values has them in the order of the file. Empty cells are left out. */
export interface CsvRow {
  line: number;
  cells: ReadonlyMap<string, readonly string[]>;
}

/** What the parser returns with `info`. */
interface CsvRecord {
  record: string[];
  info: { lines: number };
}

/**
 * Decodes bytes as they arrive. Makes CRLF one LF, in cells too: the parser counts a CRLF inside of quotes as two lines.
 * @throws InputError no UTF-8
 */
async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let rest = '';
  try {
    for await (const chunk of bytes) {
      const text = rest + decoder.decode(chunk, { stream: true });
      rest = text.endsWith('\r') ? '\r' : '';
      const lines = (rest === '' ? text : text.slice(0, -1)).replaceAll('\r\n', '\n');
      for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', at + 1)) line += 1;
      if (lines !== '') yield lines;
    }
    decoder.decode();
    if (rest !== '') yield '\n';
  } catch (error) {
    throw error instanceof TypeError ? new InputError(line, 'The file is not valid UTF-8 from about this line on') : error;
  }
}

/** Says what is wrong with the form of a CSV file, without its text. */
function toProblem(error: CsvError, line: number): InputError {
  switch (error.code) {
    case 'CSV_MAX_RECORD_SIZE':
      return new InputError(line, `The record is longer than ${MAX_LINE_BYTES.toLocaleString('en-US')} characters`);
    case 'CSV_QUOTE_NOT_CLOSED':
      return new InputError(line, 'A quoted cell does not end');
    default:
      return new InputError(line, 'The line is not valid CSV: a cell with quotes must be quoted, its quotes doubled');
  }
}

/** @throws InputError no columns, or too many */
function readColumns(cells: readonly string[], line: number): string[] {
  if (cells.length > MAX_COLUMNS)
    throw new InputError(line, `The file has more than ${MAX_COLUMNS.toLocaleString('en-US')} columns`);
  return cells.map((cell) => cell.trim());
}

function toRow(columns: readonly string[], cells: readonly string[], line: number): CsvRow {
  const found = new Map<string, string[]>();
  for (const [at, cell] of cells.entries()) {
    const column = columns[at];
    if (column === undefined || cell === '') continue;
    const values = found.get(column);
    if (values) values.push(cell);
    else found.set(column, [cell]);
  }
  return { line, cells: found };
}

/**
 * Reads a CSV file with a header line (RFC 4180; comma, lines end with CRLF or LF, with or without a byte order mark). Blank lines are left out, and cells
 * beyond the header's. `onColumns` gets the names of the columns before the first row.
 * @throws InputError no UTF-8, no valid CSV, too many columns or lines, and what `bytes` or `onColumns` throws
 */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  onColumns: (columns: readonly string[]) => void = () => undefined,
): AsyncGenerator<CsvRow> {
  const parser = parse({
    bom: true,
    info: true,
    record_delimiter: '\n',
    relax_column_count: true,
    max_record_size: MAX_LINE_BYTES,
  });
  const source = Readable.from(decoded(bytes), { objectMode: true });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let columns: string[] | undefined;
  let line = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      const start = line + 1;
      line = info.lines;
      if (line > MAX_LINES) throw tooManyLines(line);
      if (columns === undefined) {
        columns = readColumns(record, start);
        onColumns(columns);
      } else if (record.length > 1 || record[0] !== '') yield toRow(columns, record, start);
    }
  } catch (error) {
    throw error instanceof CsvError ? toProblem(error, line + 1) : error;
  } finally {
    source.destroy();
  }
  if (columns === undefined) throw new InputError(1, 'The file has no header line');
}
