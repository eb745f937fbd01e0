import { Readable } from 'node:stream';
import { readCsv } from '../../formats/csv-reader.js';
import { InputError, withoutBom } from '../../formats/input.js';
import { JiraImporter } from '../importers/jira.js';
import { LinearImporter } from '../importers/linear.js';
import { checkOwnColumns } from '../records/own-csv.js';
import type { ImportFormat } from '../records/read-input.js';

/** First bytes of a file that its format is recognized by: more than the header line of any export. */
export const RECOGNIZED_BYTES = 256 * 1024;

const TABLES: readonly (readonly [ImportFormat, check: (columns: readonly string[]) => void])[] = [
  ['csv', checkOwnColumns],
  ['jira_csv', JiraImporter.checkColumns],
  ['linear_csv', LinearImporter.checkColumns],
];

/** Whether the columns are those of a format, of which each refuses what it lacks. */
function fits(check: (columns: readonly string[]) => void, columns: readonly string[]): boolean {
  try {
    check(columns);
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

async function readHeader(head: Buffer): Promise<readonly string[]> {
  let columns: readonly string[] = [];
  // Whole lines, so that no character is cut.
  const lines = head.subarray(0, head.lastIndexOf('\n') + 1 || head.length);
  try {
    for await (const _row of readCsv(Readable.from([lines]), (names) => (columns = names))) break;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
  }
  return columns;
}

/** Returns the format of a file by its first bytes; undefined if it is none that an import reads. */
export async function recognizeFormat(head: Buffer): Promise<ImportFormat | undefined> {
  const text = withoutBom(head).toString('utf8').trimStart();
  if (text.startsWith('{')) return 'ndjson';
  if (text.startsWith('[')) return /"entity"\s*:/.test(text) ? 'json' : 'github_json';
  const columns = await readHeader(head);
  return TABLES.find(([, check]) => fits(check, columns))?.[0];
}
