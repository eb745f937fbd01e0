import { JSON_COLUMNS } from '../../../work/tasks/columns.js';
import { unguardFormulas } from '../../formats/csv.js';
import type { CsvRow } from '../../formats/csv-reader.js';
import { InputError, isBad } from '../../formats/input.js';
import { parseRecord } from '../../formats/parse-json.js';
import type { ImportRecord } from '../importers/record.js';

/** Fields whose cells hold JSON; all others hold text. */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  ...JSON_COLUMNS,
  'fields',
  'options',
  'required',
  'auto_complete',
  'snapshot',
  'actions',
  'is_protected',
  'deleted',
  'file',
]);

/** @throws InputError the column `entity` is missing */
export function checkOwnColumns(columns: readonly string[]): void {
  if (!columns.includes('entity'))
    throw new InputError(
      1,
      'The column entity is missing, which files of this service have; for those of others set format to jira_csv or linear_csv',
    );
}

/** Reads JSON; a cell that is none, or nested too deep, stays text, which the validation then refuses with the name of the field. */
function parseJson(cell: string): unknown {
  const parsed = parseRecord(0, cell);
  return isBad(parsed) ? cell : parsed.value;
}

/** Converts a row of our own CSV to a record: an empty cell is null. */
export function recordOfRow({ cells }: CsvRow): ImportRecord {
  const fields = [...cells].map(([name, [cell = '']]) => {
    const text = unguardFormulas(cell);
    return [name, JSON_FIELDS.has(name) ? parseJson(text) : text];
  });
  return Object.fromEntries(fields) as ImportRecord;
}
