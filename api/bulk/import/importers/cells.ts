import type { CsvRow } from '../../formats/csv-reader.js';

/** Reads cells of a row by the names of columns, whatever their case. */
export class Cells {
  private readonly byName = new Map<string, readonly string[]>();

  constructor(
    row: CsvRow,
    private readonly clean: (cell: string) => string = (cell) => cell,
  ) {
    for (const [name, values] of row.cells) this.byName.set(name.toLowerCase(), values);
  }

  /** All values of the columns with one of these names, in order. */
  all(...names: string[]): string[] {
    return names
      .flatMap((name) => (this.byName.get(name.toLowerCase()) ?? []).map(this.clean))
      .filter((cell) => cell.trim() !== '');
  }

  /** The first value of the first of these columns that has one. */
  first(...names: string[]): string | undefined {
    return this.all(...names)[0];
  }

  /** Values of the columns whose name matches, with the name. */
  matching(pattern: RegExp): { name: string; value: string }[] {
    return [...this.byName].flatMap(([name, values]) => {
      const [, found] = pattern.exec(name) ?? [];
      return found === undefined ? [] : values.map((value) => ({ name: found, value: this.clean(value) }));
    });
  }

  /** A number in a cell; undefined for none. */
  number(...names: string[]): number | undefined {
    const cell = this.first(...names);
    const value = cell === undefined ? NaN : Number(cell.trim());
    return Number.isFinite(value) ? value : undefined;
  }
}
