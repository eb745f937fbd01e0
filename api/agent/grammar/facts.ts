import { addTo } from '../../platform/calendar-days.js';
import type { Duration, WrittenDate } from '../../platform/written-days.js';
import { capital, named, Question, type Subject } from './subjects.js';
import { PRIORITIES } from './terms.js';

/** @throws Question for another item than a task */
export function requireTask({ item }: Subject): void {
  if (item && item.type !== 'task') throw new Question(`${capital(named(item))} is not a task, and this works on tasks only.`);
}

/** @throws Question a date that no calendar has, or that can be read in two ways */
export function dayOf(date: WrittenDate): string | null {
  if (date === 'impossible') throw new Question('No calendar has that date. Which one do you mean?');
  if (date === 'unclear') throw new Question('Is the day or the month first? Write the date as 2026-12-31 or as 31 December.');
  return date.date;
}

/** @throws Question there is no date to move */
export function shifted(item: Subject['item'], due: string | null | undefined, by: Duration): string {
  if (!due) throw new Question(`${item ? capital(named(item)) : 'The task'} has no due date to start from. Write the new date.`);
  return addTo(due, by);
}

/** Returns the priority one step above or below; the last one stays. */
export function stepped(priority: string | null | undefined, by: 1 | -1): string {
  const at = PRIORITIES.findIndex((each) => each === (priority ?? 'medium'));
  return PRIORITIES[Math.max(0, Math.min(PRIORITIES.length - 1, at + by))] as string;
}
