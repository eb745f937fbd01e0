import { DUE_RANGES, type DueRange } from '../../work/saved-views/rules.js';

/** Days that a list can be due in, which move with the calendar. */
export const DUE_NAMES: Readonly<Record<DueRange, string>> = {
  overdue: 'Overdue',
  today: 'Due today',
  week: 'Due this week',
  next_7: 'Due in the next 7 days',
  none: 'No due date',
};

/** The same as a form offers them after the label `Due`. */
export const DUE_CHOICES = DUE_RANGES.map((due): [value: string, name: string] => [
  due,
  DUE_NAMES[due].replace(/^Due (.)/, (_, first: string) => first.toUpperCase()),
]);
