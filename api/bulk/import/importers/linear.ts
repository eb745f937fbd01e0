import type { CsvRow } from '../../formats/csv-reader.js';
import { InputError } from '../../formats/input.js';
import { Cells } from './cells.js';
import { ForeignImporter, type ForeignIssue, shown } from './foreign.js';
import type { ImportPlace, Importer, Mapped } from './record.js';
import { parseDay } from './values.js';

/** The CSV that Linear exports (Settings, Import and export, or a view's *Export issues as CSV*). Columns were added over time. */

/** Linear writes a quote before text that a spreadsheet could read as a formula. */
const unquoted = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r])/, '');

const keysIn = (text: string | undefined): string[] =>
  (text ?? '').split(/[,\s]+/).filter((key) => /^[A-Z0-9]+-[0-9]+$/i.test(key));

function buildLinks(cells: Cells): ForeignIssue['links'] {
  const of = (type: ForeignIssue['links'][0]['type'], ...names: string[]) =>
    keysIn(cells.first(...names)).map((key) => ({ type, key }));
  return [
    ...of('blocks', 'Blocks'),
    ...of('blocked_by', 'Blocked by'),
    ...of('related_to', 'Related to'),
    ...of('related_to', 'Duplicate of'),
  ];
}

/** Columns of an export that are read, or say nothing that a task keeps. */
const KNOWN_COLUMN =
  /^(id|team|title|description|status|estimate|priority|project( id)?|creator|assignee|labels|cycle (number|name|start|end)|created|updated|started|triaged|completed|canceled|archived|due date|parent issue|uuid|time in status \(minutes\)|related to|blocked by|blocks|duplicate of)$/i;

/** Returns the columns of an export that no task keeps. */
export const unreadLinearColumns = (columns: readonly string[]): string[] =>
  columns.filter((name) => name !== '' && !KNOWN_COLUMN.test(name));

export class LinearImporter implements Importer<CsvRow> {
  private readonly foreign: ForeignImporter;

  constructor(place: ImportPlace) {
    this.foreign = new ForeignImporter('linear', place);
  }

  /** @throws InputError a column that an export of Linear has is missing */
  static checkColumns(this: void, columns: readonly string[]): void {
    const names = new Set(columns.map((name) => name.toLowerCase()));
    for (const name of ['ID', 'Title']) {
      if (!names.has(name.toLowerCase()))
        throw new InputError(1, `The column ${name} is missing: this is no CSV export of Linear`);
    }
  }

  map(row: CsvRow): Mapped {
    const cells = new Cells(row, unquoted);
    const key = cells.first('ID')?.trim();
    const title = cells.first('Title');
    if (key === undefined || title === undefined) return { records: [], notes: ['The line has no ID or no title'] };
    const notes: string[] = [];
    const team = cells.first('Team')?.trim() ?? key.replace(/-[0-9]+$/, '');
    const due = cells.first('Due Date');
    const day = due === undefined ? undefined : parseDay(due);
    if (due !== undefined && day === undefined) notes.push(`The due date ${shown(due)} has an unknown form`);
    const number = cells.first('Cycle Number')?.trim();
    const project = cells.first('Project')?.trim();
    const mapped = this.foreign.map({
      line: row.line,
      key,
      title,
      description: cells.first('Description') ?? '',
      origin: `Imported from Linear: ${key}`,
      status: cells.first('Status'),
      priority: cells.first('Priority'),
      assignees: cells.all('Assignee').slice(0, 1),
      labels: cells.all('Labels').flatMap((labels) => labels.split(',')),
      due: day,
      hours: undefined,
      points: cells.number('Estimate'),
      spent: undefined,
      isArchived: cells.first('Archived') !== undefined,
      created: cells.first('Created'),
      completed: cells.first('Completed', 'Canceled'),
      creator: cells.first('Creator'),
      // An issue without a project stays with the others of its team.
      project:
        project === undefined
          ? { key: `team ${team}`, name: team }
          : { key: cells.first('Project ID')?.trim() ?? project, name: project },
      cycle:
        number === undefined
          ? undefined
          : {
              key: `${team} ${number}`,
              name: cells.first('Cycle Name')?.trim() ?? `Cycle ${number}`,
              start: parseDay(cells.first('Cycle Start') ?? ''),
              end: parseDay(cells.first('Cycle End') ?? ''),
            },
      parent: keysIn(cells.first('Parent issue'))[0],
      comments: [],
      links: buildLinks(cells),
    });
    return { records: mapped.records, notes: [...notes, ...mapped.notes] };
  }
}
