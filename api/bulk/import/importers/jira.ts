import type { CsvRow } from '../../formats/csv-reader.js';
import { InputError } from '../../formats/input.js';
import { Cells } from './cells.js';
import { type ForeignComment, ForeignImporter, type ForeignIssue, shown } from './foreign.js';
import type { ImportPlace, Importer, Mapped } from './record.js';
import { parseDay, getStatus } from './values.js';
import { wikiToMarkdown } from './wiki-markup.js';
import { fromChoice, type TaskStatus } from '../../../work/tasks/rules.js';

/**
 * The CSV that Jira exports (Filters, Export, CSV with all fields; Cloud and Data Center). A column of several values is repeated, as
 * `Labels`, `Sprint`, `Comment` and the links are.
 */

const KEY = 'Issue key';
const TITLE = 'Summary';
/** An issue's key, such as PROJ-12. */
const IS_KEY = /^[A-Z][A-Z0-9_]*-[0-9]+$/i;
const LINK = /^(outward|inward) issue link \((.+)\)$/;
const SECONDS_PER_HOUR = 3600;
/** Issues whose numbers are remembered, for files that name parents by number. */
const MAX_NUMBERED = 200_000;
/** Longest number, and key, that is remembered: a cell may have a megabyte, and a file thousands of them. */
const MAX_REMEMBERED = 64;

/** A comment is `date;author;text`; the text may hold semicolons. */
function toComment(cell: string): ForeignComment {
  const [, date = '', author = '', text] = /^([^;\n]{0,40});([^;\n]{0,200});(.*)$/s.exec(cell) ?? [];
  return text === undefined ? { author: '', date: '', text: wikiToMarkdown(cell) } : { author, date, text: wikiToMarkdown(text) };
}

const LINK_TYPES: Readonly<
  Record<string, { outward: ForeignIssue['links'][0]['type']; inward: ForeignIssue['links'][0]['type'] | null }>
> = {
  blocks: { outward: 'blocks', inward: 'blocked_by' },
  // Outward "causes": the other issue is the one that was caused, which its own row says as inward.
  'problem/incident': { outward: 'related_to', inward: 'caused_by' },
};

function buildLinks(cells: Cells): ForeignIssue['links'] {
  return ['outward', 'inward'].flatMap((direction) =>
    cells.matching(new RegExp(`^${direction} issue link \\((.+)\\)$`)).flatMap(({ name, value }) => {
      const key = value.trim();
      if (!IS_KEY.test(key)) return [];
      const known = LINK_TYPES[name];
      const type = known ? known[direction as 'outward' | 'inward'] : 'related_to';
      return type === null ? [] : [{ type, key }];
    }),
  );
}

/** Statuses of a site have any name, but their category has one of three. */
const CATEGORIES: Readonly<Record<string, TaskStatus>> = { 'to do': 'todo', 'in progress': 'in_progress', done: 'done' };

/**
 * Returns the name of the status, or that of its category where the name says something else, or nothing. The resolution decides where it says that
 * nobody completed a closed issue.
 */
function statusWord(cells: Cells): string | undefined {
  const name = cells.first('Status');
  const category = CATEGORIES[cells.first('Status Category')?.trim().toLowerCase() ?? ''];
  const choice = getStatus(name ?? '');
  const status = choice && fromChoice(choice).status;
  const resolution = cells.first('Resolution');
  const reason = getStatus(resolution ?? '');
  if ((category ?? status) === 'done' && (reason === 'canceled' || reason === 'duplicate')) return resolution;
  if (category === undefined || status === category) return name;
  return status === 'in_review' && category === 'in_progress' ? name : category;
}

/** Imports issues of Jira. Give each row to `scan` first, so that a parent named by its number is known wherever it stands. */
export class JiraImporter implements Importer<CsvRow> {
  private readonly foreign: ForeignImporter;
  private readonly keys = new Map<string, string>();

  constructor(place: ImportPlace) {
    this.foreign = new ForeignImporter('jira', place);
  }

  /** @throws InputError a column that an export of Jira has is missing */
  static checkColumns(this: void, columns: readonly string[]): void {
    const names = new Set(columns.map((name) => name.toLowerCase()));
    for (const name of [KEY, TITLE]) {
      if (!names.has(name.toLowerCase())) throw new InputError(1, `The column ${name} is missing: this is no CSV export of Jira`);
    }
  }

  /** Remembers the number of an issue. */
  scan(row: CsvRow): void {
    const number = row.cells.get('Issue id')?.[0]?.trim();
    const key = row.cells.get(KEY)?.[0]?.trim();
    if (number === undefined || key === undefined || this.keys.size >= MAX_NUMBERED) return;
    if (number.length <= MAX_REMEMBERED && key.length <= MAX_REMEMBERED) this.keys.set(number, key);
  }

  private findParent(cells: Cells, notes: string[]): string | undefined {
    const name = (
      cells.first('Parent key', 'Parent', 'Parent id') ?? cells.first('Custom field (Epic Link)', 'Epic Link')
    )?.trim();
    if (name === undefined) return undefined;
    const key = IS_KEY.test(name) ? name : this.keys.get(name);
    if (key === undefined) notes.push(`The parent ${shown(name)} is not in the file`);
    return key;
  }

  map(row: CsvRow): Mapped {
    const cells = new Cells(row);
    const key = cells.first(KEY)?.trim();
    const title = cells.first(TITLE);
    if (key === undefined || title === undefined) return { records: [], notes: ['The line has no issue key or no summary'] };
    const notes: string[] = [];
    const type = cells.first('Issue Type')?.trim().toLowerCase();
    const labels = cells.all('Labels', 'Component/s', 'Components', 'Fix Version/s', 'Fix versions');
    const sprint = cells.all('Sprint').at(-1)?.trim();
    const due = cells.first('Due Date');
    const day = due === undefined ? undefined : parseDay(due);
    if (due !== undefined && day === undefined) notes.push(`The due date ${shown(due)} has an unknown form`);
    const attachments = cells.all('Attachment', 'Attachments').length;
    if (attachments > 0) notes.push(`Files are not part of the export. Attachments left out: ${attachments}`);
    const estimate = cells.number('Original estimate', 'Original Estimate');
    const spent = cells.number('Time Spent');
    const projectKey = cells.first('Project key')?.trim() ?? key.replace(/-[0-9]+$/, '');
    const mapped = this.foreign.map({
      line: row.line,
      key,
      title,
      description: wikiToMarkdown(cells.first('Description') ?? ''),
      origin: `Imported from Jira: ${key}`,
      status: statusWord(cells),
      priority: cells.first('Priority'),
      assignees: cells.all('Assignee').slice(0, 1),
      labels: [...(type === undefined || type === 'task' ? [] : [type]), ...labels],
      due: day,
      hours: estimate === undefined ? undefined : estimate / SECONDS_PER_HOUR,
      points: cells.number('Custom field (Story Points)', 'Custom field (Story point estimate)', 'Story Points'),
      spent: spent === undefined ? undefined : Math.max(0, spent) / SECONDS_PER_HOUR,
      isArchived: false,
      created: cells.first('Created'),
      completed: cells.first('Resolved'),
      creator: cells.first('Reporter', 'Creator'),
      project: { key: projectKey, name: cells.first('Project name') ?? projectKey },
      cycle: sprint === undefined ? undefined : { key: sprint, name: sprint },
      parent: this.findParent(cells, notes),
      comments: cells.all('Comment', 'Comments').map(toComment),
      links: buildLinks(cells),
    });
    return { records: mapped.records, notes: [...notes, ...mapped.notes] };
  }
}

/** Columns of an export that are read, or say nothing that a task keeps. */
const KNOWN_COLUMN =
  /^(issue (key|id|type)|summary|description|status( category( changed)?)?|priority|assignee( id)?|reporter( id)?|creator( id)?|created|updated|last viewed|resolved|resolution|due date|labels|components?(\/s)?|fix versions?(\/s)?|sprint|original estimate|remaining estimate|time spent|Σ .*|work ratio|votes|watchers( id)?|project (key|name|type|lead|lead id|description|url)|parent( id| key| summary)?|comments?|attachments?|custom field \((epic link|story points|story point estimate|rank)\)|epic link|story points|security level)$/i;

/** Returns the columns of an export that no task keeps. */
export const unreadJiraColumns = (columns: readonly string[]): string[] => [
  ...new Set(columns.filter((name) => name !== '' && !KNOWN_COLUMN.test(name) && !LINK.test(name.toLowerCase()))),
];
