/** Statuses of a task, in order. */
export const TASK_STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TASK_PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

/** Maximum nesting of subtasks; a task without a parent is level 1. */
export const MAX_SUBTASK_DEPTH = 20;

/** Normalizes hyphens and case: `In-Progress` becomes `in_progress`. */
export const normaliseStatus = (value: string): string => value.trim().toLowerCase().replaceAll('-', '_');

/** Trims tags and removes duplicates, in order of first appearance. */
export const normaliseTags = (tags: string[]): string[] => [...new Set(tags.map((tag) => tag.trim()))];
