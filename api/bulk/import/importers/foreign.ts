import { InputError } from '../../formats/input.js';
import { fromChoice, MAX_POINTS, type TaskPriority } from '../../../work/tasks/rules.js';
import type { ImportPlace, ImportRecord, Mapped } from './record.js';
import {
  Comments,
  parseMoment,
  toDescription,
  parsePriority,
  stableId,
  stablePartId,
  getStatus,
  toTags,
  getTitle,
  toAddress,
} from './values.js';

/** Projects, and cycles, that one foreign file may name. */
const MAX_NAMED = 10_000;

/** A comment of a foreign issue. */
export interface ForeignComment {
  author: string;
  date: string;
  text: string;
}

/** An issue of a foreign system, in words that all three formats share. */
export interface ForeignIssue {
  line: number;
  key: string;
  title: string;
  description: string;
  /** Where it comes from, for the end of the description: `Imported from Jira: PROJ-12`. */
  origin: string;
  /** Undefined: the format has no status, or none was given. */
  status: string | undefined;
  priority: string | undefined;
  assignees: string[];
  labels: string[];
  due: string | undefined;
  hours: number | undefined;
  points: number | undefined;
  spent: number | undefined;
  isArchived: boolean;
  /** Times as the file writes them. */
  created: string | undefined;
  completed: string | undefined;
  /** Name of who created it. */
  creator: string | undefined;
  project: { key: string; name: string };
  cycle: { key: string; name: string; start?: string | undefined; end?: string | undefined } | undefined;
  parent: string | undefined;
  comments: ForeignComment[];
  /** Edges between this issue and others, by their keys. */
  links: { type: 'blocks' | 'blocked_by' | 'related_to' | 'caused_by'; key: string }[];
}

/** Relations that an item may have on one side. */
const MAX_LINKS = 500;
const MAX_HOURS = 1_000;
const MAX_SHOWN = 40;
/** A short name from the file, for a note. */
export const shown = (text: string): string => `“${getTitle(text).slice(0, MAX_SHOWN)}”`;

/** Says who created an issue: a task has its importer as its creator. */
const toOrigin = ({ origin, creator = '' }: ForeignIssue): string => {
  const name = getTitle(creator).slice(0, MAX_SHOWN);
  return name === '' ? origin : `${origin}, created by ${name}`;
};

/**
 * A cycle whose dates include today is started when its tasks are in, unless another one is active; one whose dates are past is completed, as if on
 * its last day.
 */
function stateOf({ start_date = null, end_date = null }: { start_date?: string | null; end_date?: string | null }) {
  const today = new Date().toISOString().slice(0, 10);
  if (start_date === null || end_date === null || today < start_date) return {};
  if (today <= end_date) return { status: 'active' };
  return { status: 'completed', started_at: `${start_date}T00:00:00.000Z`, completed_at: `${end_date}T23:59:59.999Z` };
}

/** Creates tasks, and what they need, from the issues of one foreign file. */
export class ForeignImporter {
  private readonly named = new Set<string>();

  /** `system`: name of the format, part of every id. */
  constructor(
    private readonly system: string,
    private readonly place: ImportPlace,
  ) {}

  private readonly getId = (kind: string, ...keys: string[]): string => stableId(this.place.team_id, this.system, kind, ...keys);

  /** Returns a record of what an issue names, the first time. @throws InputError too many of them */
  private once(line: number, record: ImportRecord, id: string): ImportRecord[] {
    if (this.named.has(id)) return [];
    if (this.named.size >= MAX_NAMED) {
      throw new InputError(line, `The file names more than ${MAX_NAMED.toLocaleString('en-US')} projects and cycles`);
    }
    this.named.add(id);
    return [record];
  }

  private resolveProject({ line, project }: ForeignIssue): { project_id: string; records: ImportRecord[] } {
    if (this.place.project_id !== null) return { project_id: this.place.project_id, records: [] };
    const project_id = this.getId('project', project.key);
    const record = { entity: 'project', project_id, name: getTitle(project.name) || project.key, is_shared: true };
    return { project_id, records: this.once(line, record, project_id) };
  }

  private toCycle({ line, cycle }: ForeignIssue): { cycle_id: string | null; records: ImportRecord[] } {
    if (cycle === undefined) return { cycle_id: null, records: [] };
    const cycle_id = this.getId('cycle', cycle.key);
    const { start = null, end = null } = cycle;
    const inOrder = start === null || end === null || start <= end;
    const dates = inOrder ? { start_date: start, end_date: end } : {};
    const name = getTitle(cycle.name) || cycle.key;
    const record = { entity: 'cycle', cycle_id, name, ...dates, ...stateOf(dates), is_shared: true };
    return { cycle_id, records: this.once(line, record, cycle_id) };
  }

  /** Without a member among them, the first waits for the person with this address to join. */
  private readAssignee({ assignees, line }: ForeignIssue, notes: string[]): Record<string, string | null> {
    const member = assignees.map((name) => this.place.getMemberName(name)).find((found) => found !== undefined);
    const [first] = assignees;
    if (member === undefined && first !== undefined) this.place.addStranger(first, line);
    if (assignees.length > 1)
      notes.push(`A task has one assignee; the first${member === undefined ? '' : ' who is a member'} was taken`);
    const expected = member === undefined && first !== undefined ? toAddress(first) : null;
    return { assigned_to: member ?? null, expected_assignee: expected };
  }

  private toRelations({ key, links }: ForeignIssue, notes: string[]): ImportRecord[] {
    const task = this.getId('task', key);
    if (links.length > MAX_LINKS)
      notes.push(`A task has at most ${MAX_LINKS} relations; ${links.length - MAX_LINKS} were left out`);
    return links.slice(0, MAX_LINKS).map(({ type, key: other }) => {
      const ends = { source_id: task, target_id: this.getId('task', other), relation_type: type };
      const [first, second] = type === 'blocked_by' ? [other, key] : [key, other];
      const pair = type === 'related_to' ? [key, other].toSorted() : [first, second];
      const kind = type === 'blocked_by' ? 'blocks' : type;
      return { entity: 'relation', relation_id: this.getId('relation', kind, ...(pair as string[])), ...ends, is_shared: true };
    });
  }

  private toComments(task_id: string, issue: ForeignIssue, rest: string | undefined): ImportRecord[] {
    const comments = new Comments(task_id, (nth) => stablePartId(nth, this.place.team_id, this.system, 'comment', issue.key));
    if (rest !== undefined) comments.add(`The whole description:\n\n${rest}`);
    for (const { author, date, text } of issue.comments) {
      const head = [author, date].filter((part) => part !== '').join(', ');
      comments.add(head === '' || text.trim() === '' ? text : `*${head}*\n\n${text}`);
    }
    return comments.records;
  }

  /** Returns the records of an issue. Without a key or a title it is none; the caller has checked that. */
  map(issue: ForeignIssue): Mapped {
    const notes: string[] = [];
    const { project_id, records: projects } = this.resolveProject(issue);
    const { cycle_id, records: cycles } = this.toCycle(issue);
    const { tags, dropped } = toTags(issue.labels);
    if (dropped > 0) notes.push(`A task has at most 20 tags; ${dropped} more were left out`);
    const { description, rest } = toDescription(issue.description, toOrigin(issue));
    if (rest !== undefined) notes.push('The description was too long and was cut; the whole text is in comments');
    const priority = this.readPriority(issue, notes);
    const task_id = this.getId('task', issue.key);
    const task: ImportRecord = {
      entity: 'task',
      task_id,
      project_id,
      title: getTitle(issue.title),
      description,
      ...this.readStatus(issue),
      priority,
      ...this.readAssignee(issue, notes),
      due_date: issue.due ?? null,
      tags,
      estimated_hours: this.amount(issue.hours, MAX_HOURS, notes),
      estimate: this.points(issue.points, notes),
      actual_hours: issue.spent ?? 0,
      is_archived: issue.isArchived,
      created_at: parseMoment(issue.created),
      completed_at: parseMoment(issue.completed),
      parent_task_id: issue.parent === undefined ? null : this.getId('task', issue.parent),
      cycle_id,
    };
    const comments = this.toComments(task_id, issue, rest);
    const relations = this.toRelations(issue, notes);
    return { records: [...projects, ...cycles, task, ...comments, ...relations], notes };
  }

  /** The place that the request or a stage of the team has for this state, else the status that fits best. */
  private readStatus({ status: named, line }: ForeignIssue): Record<string, unknown> {
    if (named === undefined) return fromChoice('todo');
    const known = this.place.getState(named);
    if (known) return known;
    const status = getStatus(named) ?? 'todo';
    this.place.addState(named, status, line);
    return fromChoice(status);
  }

  private readPriority({ priority: named }: ForeignIssue, notes: string[]): TaskPriority {
    if (named === undefined) return 'none';
    const priority = parsePriority(named);
    if (priority === undefined) notes.push(`The priority ${shown(named)} is unknown; the task has none`);
    return priority ?? 'none';
  }

  private amount(value: number | undefined, max: number, notes: string[]): number | null {
    if (value === undefined || !Number.isFinite(value) || value < 0) return null;
    if (value <= max) return value;
    notes.push(`The estimate is more than ${max} and was left out`);
    return null;
  }

  private points(value: number | undefined, notes: string[]): number | null {
    const points = this.amount(value, MAX_POINTS, notes);
    if (points === null || Number.isInteger(points)) return points;
    // Half a point is work, and no task without it.
    notes.push(`Points are whole numbers: ${points} became ${Math.ceil(points)}`);
    return Math.ceil(points);
  }
}
