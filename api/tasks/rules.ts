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
