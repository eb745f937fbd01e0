import { type TaskNode, TreeText, writeTree } from './nesting.js';

/**
 * A task list in one row: each column is a text with one line per task, in order. Neither ids nor JSON contain line breaks, and
 * one long text is much cheaper to receive than one row per task.
 */
export interface TaskColumns {
  count: number;
  /** All marks combined; null without a task. */
  mark: string | null;
  ids: string | null;
  /** An empty line for a task without parent. */
  parents: string | null;
  marks: string | null;
  /** JSON of the first tasks, of all if they are not large. Only of a list that is read with its records. */
  records?: string | null;
  /** Number of tasks that have one. */
  read?: number;
  /** Bytes of each record before JSON escapes its texts. Only of a list that is read without its records. */
  sizes?: string | null;
  /** Bytes of all these texts. */
  texts?: number | null;
}

export interface ListedTask extends TaskNode {
  /** Changes with every write to the task. */
  mark: string;
  /** Bytes in the response, a few too many, before JSON escapes; 0 where the list is read with its records. */
  bytes: number;
}

/** Splits a column into its lines. */
export const splitLines = (text: string | null | undefined): string[] => text?.split('\n') ?? [];

/** Bytes that a record gets in the array: its subtasks and a comma. */
export const MEMBER_BYTES = ',"subtasks":[],'.length;

/** Converts columns to one object per task. */
export function toTasks({ ids, parents, marks, sizes }: TaskColumns): ListedTask[] {
  const [findParent, buildMark, readSize] = [splitLines(parents), splitLines(marks), splitLines(sizes)];
  return splitLines(ids).map((task_id, i) => ({
    task_id,
    parent_task_id: findParent[i] || null,
    mark: buildMark[i] as string,
    bytes: sizes ? Number(readSize[i]) + MEMBER_BYTES : 0,
  }));
}

/** Bytes that one byte of a text becomes at most in JSON: `\\u0001`. */
export const MAX_ESCAPE = 6;

/** Returns the first tasks whose response has at most this size: at least one, behind which a list can go on. */
export function withinBytes(tasks: ListedTask[], maxBytes: number): ListedTask[] {
  let bytes = '[]'.length;
  const end = tasks.findIndex((task) => (bytes += task.bytes) > maxBytes);
  return end === -1 ? tasks : tasks.slice(0, Math.max(1, end));
}

/** Converts columns to one object for each task that has a record. */
export function toRecords(columns: TaskColumns): (ListedTask & { json: string })[] {
  const tasks = toTasks(columns);
  return splitLines(columns.records).map((json, i) => Object.assign(tasks[i] as ListedTask, { json }));
}

/** Drops the last task, which only tells that more follow. */
export function withoutLast(columns: TaskColumns): TaskColumns {
  const cut = (text: string | null) => text && text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  const { count, ids, parents, marks, read, records = null } = columns;
  const kept = read === count ? cut(records) : records;
  return { ...columns, count: count - 1, ids: cut(ids), parents: cut(parents), marks: cut(marks), records: kept };
}

/** Writes all records as one JSON array. Without nesting, the lines become the array as they are. */
export function writeRecords(columns: TaskColumns, flat: boolean): string {
  const { records, parents } = columns;
  if (!records) return '[]';
  if (!flat && parents && /[^\n]/.test(parents)) return writeTree(toRecords(columns));
  const text = new TreeText(flat);
  return text.addLines(records) + text.end();
}
