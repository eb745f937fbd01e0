/** Statuses of a task, in order. */
export const TASK_STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Why a task is done that nobody completed (docs/decisions/work.md#closed-without-completion). */
export const TASK_RESOLUTIONS = ['canceled', 'duplicate'] as const;
export type TaskResolution = (typeof TASK_RESOLUTIONS)[number];

/** A status as people see and choose it: a task that is done without being completed says why. */
export const STATUS_CHOICES = [...TASK_STATUSES, ...TASK_RESOLUTIONS] as const;
export type StatusChoice = (typeof STATUS_CHOICES)[number];

export const isStatusChoice = (value: string): value is StatusChoice => STATUS_CHOICES.some((one) => one === value);

/** Returns the choice that a task shows, unless it is in a stage. */
export const getChoice = ({ status, resolution }: { status: TaskStatus; resolution?: TaskResolution | null }): StatusChoice =>
  resolution ?? status;

/** A status or a resolution in words: "In review". */
export const formatStatus = (status: string): string =>
  status === 'todo' ? 'To do' : status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' ');

const isResolution = (choice: StatusChoice): choice is TaskResolution => TASK_RESOLUTIONS.some((one) => one === choice);

/** Returns what a form sends for the choice that a task shows: the id of its stage, if it is in one. */
export const chosenValue = (task: { status: TaskStatus; resolution: TaskResolution | null; stage_id: string | null }): string =>
  task.stage_id ?? getChoice(task);

/** Returns the fields that a choice sets. */
export const fromChoice = (choice: StatusChoice) => ({
  status: isResolution(choice) ? ('done' as const) : choice,
  resolution: isResolution(choice) ? choice : null,
  stage_id: null,
});

/** From the lowest. `none`: nobody has given the task one yet (docs/decisions/work.md#no-priority). */
export const TASK_PRIORITIES = ['none', 'low', 'medium', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];
export const formatPriority = (priority: TaskPriority): string => (priority === 'none' ? 'No priority' : formatStatus(priority));

/** The largest estimate of a task; the check of the column says the same. */
export const MAX_POINTS = 999;

/** Tasks of a team that wait for the same person to join, who gets them then in one transaction; and those that wait for others. */
export const MAX_EXPECTED = 500;
export const MAX_EXPECTED_OF_TEAM = 10_000;

/** Maximum nesting of subtasks; a task without a parent is level 1. */
export const MAX_SUBTASK_DEPTH = 20;

/** Normalizes hyphens and case: `In-Progress` becomes `in_progress`. */
export const normaliseStatus = (value: string): string => value.trim().toLowerCase().replaceAll('-', '_');

/** Trims tags and removes duplicates, in order of first appearance. */
export const normaliseTags = (tags: string[]): string[] => [...new Set(tags.map((tag) => tag.trim()))];
