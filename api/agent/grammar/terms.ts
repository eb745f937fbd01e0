/** What messages talk about: the values that the grammar reads, in no file that needs another. */

const STATUSES = ['todo', 'in_progress', 'in_review', 'done'] as const;
export type Status = (typeof STATUSES)[number];

export const PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;
export type Priority = (typeof PRIORITIES)[number];

export type Assignee = { kind: 'me' } | { kind: 'nobody' } | { kind: 'name'; name: string };

/** A date, YYYY-MM-DD; null for none. `impossible`: a day that no calendar has. `unclear`: day and month could be either. */
export type DueDate = { date: string | null } | 'impossible' | 'unclear';
/** Days from and to, both included, YYYY-MM-DD. */
export interface DateRange {
  from?: string;
  to?: string;
}
/** A length of time: days, or months. */
export interface Duration {
  days: number;
  months: number;
}

/** What tasks have to be. Every given part must hold. */
export interface TaskFilter {
  statuses?: readonly Status[];
  priorities?: readonly Priority[];
  isOverdue?: true;
  isBlocked?: true;
  hasNoDueDate?: true;
  due?: DateRange;
  /** Days on which they were done. */
  completed?: DateRange;
  assignee?: Assignee;
  tag?: string;
  /** Stems that the title or the name of the project has. */
  words?: readonly string[];
}
