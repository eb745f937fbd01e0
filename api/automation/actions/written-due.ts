import { normaliseDate } from '../../platform/dates.js';
import { readDate, startOfMonth } from '../../platform/written-days.js';

/** Days to try words on: those that are a day in some months only, such as `the 31st`, would fail in the others. */
const ANY_DAYS = Array.from({ length: 12 }, (_, month) => startOfMonth('2026-01-01', month));
/** Longest words that are looked at. */
const MAX_LENGTH = 60;

/**
 * Reads words that mean a day, such as `in 3 days` or `next friday`. Pure.
 * @param today YYYY-MM-DD from which they count
 * @returns the day, YYYY-MM-DD; undefined if the words are none
 */
function readDueWords(text: string, today: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const found = readDate(text.trim().toLowerCase().split(/\s+/), today);
  return typeof found === 'object' ? (found.date ?? undefined) : undefined;
}

/** Whether a text is a date, a date-time, or words that mean a day whenever they are read. */
export const isDueDate = (text: string): boolean =>
  normaliseDate(text) !== null || ANY_DAYS.every((day) => readDueWords(text, day) !== undefined);

/**
 * Returns parameters in which a due date that was written in words is a date, counted from the day of the run. Only words of the definition count:
 * what an event fills in stays as it is.
 * @param written the parameters as the automation holds them
 */
export function withDueDate<T extends Readonly<Record<string, unknown>>>(
  params: T,
  written: Readonly<Record<string, unknown>>,
  today: () => string,
): T {
  const { due_date: due } = written;
  if (typeof due !== 'string' || due.includes('{{') || normaliseDate(due) !== null) return params;
  const date = readDueWords(due, today());
  return date === undefined ? params : { ...params, due_date: date };
}
