/** Columns of the table, in this order. `details_text` is called `details`. */
const COLUMNS = [
  'timestamp',
  'team_id',
  'sequence',
  'user_email',
  'user_id',
  'actor_type',
  'impersonator_id',
  'token_id',
  'ip_address',
  'user_agent',
  'feature',
  'action',
  'severity',
  'outcome',
  'entity_type',
  'entity_id',
  'details',
  'correlation_id',
  'audit_id',
  'entry_hash',
] as const;

/**
 * Where a spreadsheet would begin to calculate: at the start of a cell, and behind what separates cells where the comma is a decimal sign. Some
 * take the wide forms of the signs for the signs.
 */
const FORMULA = /(?<=^|[;|\t\r\n])(?=[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** Returns a value as a cell (RFC 4180). An apostrophe keeps a spreadsheet from calculating a text that others wrote. */
function csvCell(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  const harmless = typeof value === 'string' ? text.replace(FORMULA, "'") : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Turns the records of a JSON array, in chunks without its brackets, into CSV with a header line and a byte order mark. */
export async function* entriesCsv(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  yield `\uFEFF${COLUMNS.join(',')}\r\n`;
  for await (const chunk of chunks) {
    const records = JSON.parse(`[${chunk.replace(/^,/, '')}]`) as Record<string, string | number | null>[];
    const toCell = (record: Record<string, string | number | null>, column: string) =>
      record[column === 'details' ? 'details_text' : column];
    yield records.map((record) => `${COLUMNS.map((column) => csvCell(toCell(record, column))).join(',')}\r\n`).join('');
  }
}
