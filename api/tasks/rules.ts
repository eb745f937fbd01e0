/** The four states of a task, in order (contract, section 3). */
export const TASK_STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TASK_PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

/** Deepest nesting of subtasks; a task without a parent is level 1 (C5). */
export const MAX_SUBTASK_DEPTH = 20;

/** `In-Progress` is `in_progress`: hyphens and case are the writer's (contract, section 2). */
export const normaliseStatus = (value: string): string => value.trim().toLowerCase().replaceAll('-', '_');

/** Trimmed, without repeats, in the order of first appearance. */
export const normaliseTags = (tags: string[]): string[] => [...new Set(tags.map((tag) => tag.trim()))];

/** A row of a list: its own JSON, without the closing brace, to be completed by its subtasks. */
export interface TaskNode {
  task_id: string;
  parent_task_id: string | null;
  json: string;
}

/**
 * Nests rows under their parents as JSON text, in the order given; a row whose parent is not among them stands at the top (C5).
 * Text is spliced, never parsed: 10,000 tasks cost one pass.
 */
export function nestTasks(rows: TaskNode[]): string {
  const children = new Map<string, TaskNode[]>();
  const present = new Set(rows.map((row) => row.task_id));
  const roots: TaskNode[] = [];
  for (const row of rows) {
    if (row.parent_task_id === null || !present.has(row.parent_task_id)) {
      roots.push(row);
      continue;
    }
    const siblings = children.get(row.parent_task_id);
    if (siblings) siblings.push(row);
    else children.set(row.parent_task_id, [row]);
  }
  const write = (row: TaskNode): string =>
    `${row.json.slice(0, -1)},"subtasks":[${(children.get(row.task_id) ?? []).map(write).join(',')}]}`;
  return `[${roots.map(write).join(',')}]`;
}
