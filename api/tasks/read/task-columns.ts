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
  records: string | null;
}

export interface ListedTask extends TaskNode {
  /** Changes with every write to the task. */
  mark: string;
}

/** Splits a column into its lines. */
export const linesOf = (text: string | null): string[] => text?.split('\n') ?? [];

/** Converts columns to one object per task. */
export function tasksOf({ ids, parents, marks }: TaskColumns): ListedTask[] {
  const [parentOf, markOf] = [linesOf(parents), linesOf(marks)];
  return linesOf(ids).map((task_id, i) => ({ task_id, parent_task_id: parentOf[i] || null, mark: markOf[i] as string }));
}

/** Converts columns to one object per task, with its record. */
export function recordsOf(columns: TaskColumns): (ListedTask & { json: string })[] {
  const records = linesOf(columns.records);
  return tasksOf(columns).map((task, i) => Object.assign(task, { json: records[i] as string }));
}

/** Drops the last task, which only tells that more follow. */
export function withoutLast(columns: TaskColumns): TaskColumns {
  const cut = (text: string | null) => text && text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  const { count, ids, parents, marks, records } = columns;
  return { ...columns, count: count - 1, ids: cut(ids), parents: cut(parents), marks: cut(marks), records: cut(records) };
}

/** Writes all records as one JSON array. Without nesting, the lines become the array as they are. */
export function writeRecords(columns: TaskColumns, flat: boolean): string {
  const { records, parents } = columns;
  if (!records) return '[]';
  if (!flat && parents && /[^\n]/.test(parents)) return writeTree(recordsOf(columns));
  const text = new TreeText(flat);
  return text.addLines(records) + text.end();
}
