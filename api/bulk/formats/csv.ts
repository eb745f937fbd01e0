/** What a cell of a table holds before it is written. */
export type CellValue = string | number | boolean | null | undefined | object;

/**
 * Where a spreadsheet would begin to calculate: at the start of a cell, and behind what separates cells where the comma is a decimal sign. Some
 * take the wide forms of the signs for the signs. Apostrophes before the sign count, so that one more can be told from those of the text.
 */
const SIGNS = String.raw`'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]`;
const SEPARATORS = String.raw`[;|\t\r\n]`;
const FORMULA = new RegExp(`(?<=^|${SEPARATORS})(?=${SIGNS})`, 'g');
const GUARD = new RegExp(`(?<=^|${SEPARATORS})'(?=${SIGNS})`, 'g');

/** Keeps a spreadsheet from calculating a text that others wrote: an apostrophe before each place where it would begin. */
const guardFormulas = (text: string): string => text.replace(FORMULA, "'");

/** Removes exactly the apostrophes that `guardFormulas` has added. */
export const unguardFormulas = (text: string): string => text.replace(GUARD, '');

/** Returns a value as a cell of a table (RFC 4180): null is an empty cell, arrays and objects are JSON. */
function csvCell(value: CellValue): string {
  const plain = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  const text = guardFormulas(plain);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The line of column names, behind a byte order mark: by it an import knows a table of ours. */
export const csvHead = (columns: readonly string[]): string => `\uFEFF${columns.join(',')}\r\n`;

/** Returns a record as a line of a table. */
export const csvLine = (columns: readonly string[], record: Readonly<Record<string, CellValue>>): string =>
  `${columns.map((column) => csvCell(record[column])).join(',')}\r\n`;
