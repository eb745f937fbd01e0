import type { FORMATS } from '../../rules.js';
import { readArray } from '../../formats/array-reader.js';
import { type CsvRow, readCsv } from '../../formats/csv-reader.js';
import { type BadRecord, InputError, isBad, type RawRecord } from '../../formats/input.js';
import { readLines } from '../../formats/line-reader.js';
import { parseRecord } from '../../formats/parse-json.js';
import { GithubImporter } from '../importers/github.js';
import { JiraImporter, unreadJiraColumns } from '../importers/jira.js';
import { LinearImporter, unreadLinearColumns } from '../importers/linear.js';
import type { ImportPlace, ImportRecord, Mapped } from '../importers/record.js';
import { checkOwnColumns, recordOfRow } from './own-csv.js';

export type ImportFormat = (typeof FORMATS)[number];

/** What one line of the input holds. Without records it has failed, and the notes say why. */
export interface InputLine extends Mapped {
  line: number;
  /** The header line holds no record and cannot fail; its notes are about columns. */
  isHeader?: true;
}

/** How much of an input is read: its first rows, and whether `open` ends before the file does. */
export interface Beginning {
  rows: number;
  isCut: boolean;
}
const WHOLE: Beginning = { rows: Number.POSITIVE_INFINITY, isCut: false };

/** Opens the input from its start. */
export type OpenInput = () => AsyncIterable<Uint8Array>;

/** Whether a format is that of another product: what it names and the team lacks is then a note, no error. */
export const isForeign = (format: ImportFormat): boolean => ['jira_csv', 'linear_csv', 'github_json'].includes(format);

const failed = ({ line, problem }: BadRecord): InputLine => ({ line, records: [], notes: [problem] });
const own = ({ line, value }: RawRecord): InputLine => ({ line, records: [value as ImportRecord], notes: [] });

async function* ownLines(open: OpenInput): AsyncGenerator<InputLine[]> {
  for await (const lines of readLines(open())) {
    yield lines.map((line) => {
      const record = 'problem' in line ? line : parseRecord(line.line, line.text);
      return isBad(record) ? failed(record) : own(record);
    });
  }
}

async function* ownRows(open: OpenInput): AsyncGenerator<InputLine[]> {
  for await (const row of readCsv(open(), checkOwnColumns)) yield [own({ line: row.line, value: recordOfRow(row) })];
}

async function* records(open: OpenInput, map: (record: RawRecord) => InputLine): AsyncGenerator<InputLine[]> {
  for await (const found of readArray(open())) yield found.map((record) => (isBad(record) ? failed(record) : map(record)));
}

/** Columns that a note names. */
const MAX_COLUMNS_NAMED = 10;
const MAX_NAME = 40;

/** A note of the header line about columns that nothing reads. */
function columnsNote(unread: readonly string[]): InputLine[] {
  if (unread.length === 0) return [];
  const names = unread.slice(0, MAX_COLUMNS_NAMED).map((name) => name.slice(0, MAX_NAME));
  const others = unread.length > names.length ? ` and ${unread.length - names.length} more` : '';
  return [{ line: 1, records: [], notes: [`Columns that were left out: ${names.join(', ')}${others}`], isHeader: true }];
}

async function* foreignRows(
  open: OpenInput,
  check: (columns: readonly string[]) => void,
  unread: (columns: readonly string[]) => string[],
  map: (row: CsvRow) => Mapped,
): AsyncGenerator<InputLine[]> {
  let header: InputLine[] = [];
  const rows = readCsv(open(), (columns) => {
    check(columns);
    header = columnsNote(unread(columns));
  });
  let isFirst = true;
  for await (const row of rows) {
    const line = { line: row.line, ...map(row) };
    yield isFirst ? [...header, line] : [line];
    isFirst = false;
  }
}

/** Looks at the first rows of a file, or of its beginning, which ends in the middle of a row. */
async function scan(importer: JiraImporter, open: OpenInput, { rows, isCut }: Beginning): Promise<void> {
  let count = 0;
  try {
    for await (const row of readCsv(open(), JiraImporter.checkColumns)) {
      importer.scan(row);
      count += 1;
      if (count >= rows) return;
    }
  } catch (error) {
    if (!(isCut && error instanceof InputError)) throw error;
  }
}

async function* jiraRows(open: OpenInput, place: ImportPlace, beginning: Beginning): AsyncGenerator<InputLine[]> {
  const importer = new JiraImporter(place);
  await scan(importer, open, beginning);
  yield* foreignRows(open, JiraImporter.checkColumns, unreadJiraColumns, (row) => importer.map(row));
}

/**
 * Reads the records of an input, in groups, in the order of the file. `beginning`: of an input that is not read to its end.
 * @throws InputError the input cannot be read on, and what `open` throws
 */
export function readInput(
  format: ImportFormat,
  open: OpenInput,
  place: ImportPlace,
  beginning: Beginning = WHOLE,
): AsyncGenerator<InputLine[]> {
  switch (format) {
    case 'ndjson':
      return ownLines(open);
    case 'json':
      return records(open, own);
    case 'csv':
      return ownRows(open);
    case 'jira_csv':
      return jiraRows(open, place, beginning);
    case 'linear_csv': {
      const importer = new LinearImporter(place);
      return foreignRows(open, LinearImporter.checkColumns, unreadLinearColumns, (row) => importer.map(row));
    }
    case 'github_json': {
      const importer = new GithubImporter(place);
      return records(open, (record) => ({ line: record.line, ...importer.map(record) }));
    }
  }
}
