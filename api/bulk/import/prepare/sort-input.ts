import { InputError, MAX_RECORDS } from '../../formats/input.js';
import { type CheckedRecord, checkRecord } from '../records/check-record.js';
import { type ImportFormat, type InputLine, type OpenInput, readInput } from '../records/read-input.js';
import type { ImportPlace, ImportRecord } from '../importers/record.js';
import { Messages } from './prepared.js';
import { isFollowUp, type SortedRows } from './sorted-rows.js';

/** What an input holds. */
export interface SortedInput {
  /** Records, valid or not. */
  total: number;
  errors: Messages;
  notes: Messages;
}

/** An error names the kind of its record, if that is one. */
const getEntity = (record: ImportRecord | undefined): string | null => {
  const entity = typeof record === 'object' && record !== null ? record.entity : null;
  return typeof entity === 'string' ? entity.slice(0, 40) : null;
};

class InputSorter {
  readonly sorted: SortedInput = { total: 0, errors: new Messages(), notes: new Messages() };

  constructor(private readonly rows: SortedRows) {}

  /** @throws InputError too many records */
  private count(line: number): void {
    this.sorted.total += 1;
    if (this.sorted.total <= MAX_RECORDS) return;
    throw new InputError(line, `The file holds more than ${MAX_RECORDS.toLocaleString('en-US')} records`);
  }

  async add({ line, records, notes, isHeader }: InputLine): Promise<void> {
    const { errors, notes: noted } = this.sorted;
    if (records.length === 0 && !isHeader) {
      this.count(line);
      errors.add(line, null, notes[0] ?? 'The line holds no record');
      return;
    }
    for (const note of notes) noted.add(line, null, note);
    let part = 0;
    for (const value of records) {
      this.count(line);
      const checked = checkRecord(value);
      if (typeof checked === 'string') errors.add(line, getEntity(value), checked);
      else for (const each of checked) await this.keep(each, line, isFollowUp(each.kind) ? -1 : part++, value);
    }
  }

  private keep(checked: CheckedRecord, line: number, part: number, { is_shared }: ImportRecord): Promise<void> | undefined {
    return this.rows.add(checked, { line, part, ...(is_shared === true && { shared: true as const }) });
  }
}

/**
 * Reads an input once, validates its records, and collects them in `rows`. `onGroup` is called between groups of lines.
 * @throws InputError the input cannot be read on, and what `open` or `onGroup` throws
 */
export async function sortInput(
  rows: SortedRows,
  input: { format: ImportFormat; open: OpenInput; place: ImportPlace },
  onGroup: () => Promise<void>,
): Promise<SortedInput> {
  const sorter = new InputSorter(rows);
  for await (const lines of readInput(input.format, input.open, input.place)) {
    for (const line of lines) await sorter.add(line);
    await onGroup();
  }
  return sorter.sorted;
}
