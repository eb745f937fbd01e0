import { type TaskNode, TreeText, writeTree } from './nesting.js';

/**
 * Tasks of a list as PostgreSQL hands them over: one row for all of them, each column a text with a line for each task, in order.
 * Neither ids nor JSON hold a line break, and one long text costs far less to receive than a row for each task.
 */
export interface TaskColumns {
  count: number;
  /** All marks in one number; null without a task. */
  mark: string | null;
  ids: string | null;
  /** An empty line where there is no parent. */
  parents: string | null;
  marks: string | null;
  records: string | null;
}

export interface ListedTask extends TaskNode {
  /** Differs whenever anything wrote to the task. */
  mark: string;
}

/** The lines of a gathered column. */
export const linesOf = (text: string | null): string[] => text?.split('\n') ?? [];

/** One object for each task. */
export function tasksOf({ ids, parents, marks }: TaskColumns): ListedTask[] {
  const [parentOf, markOf] = [linesOf(parents), linesOf(marks)];
  return linesOf(ids).map((task_id, i) => ({ task_id, parent_task_id: parentOf[i] || null, mark: markOf[i] as string }));
}

/** One object for each task, with its record. */
export function recordsOf(gathered: TaskColumns): (ListedTask & { json: string })[] {
  const records = linesOf(gathered.records);
  return tasksOf(gathered).map((task, i) => Object.assign(task, { json: records[i] as string }));
}

/** All records as one JSON array. Where nothing is nested there is nothing to arrange: the lines become the array as they are. */
export function writeRecords(gathered: TaskColumns, flat: boolean): string {
  const { records, parents } = gathered;
  if (!records) return '[]';
  if (!flat && parents && /[^\n]/.test(parents)) return writeTree(recordsOf(gathered));
  const text = new TreeText(flat);
  return text.addLines(records) + text.end();
}
