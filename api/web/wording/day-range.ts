import { Temporal } from 'temporal-polyfill';
import type { DayRange } from '../../automation/runs/search-runs.js';

const computeDayStart = (day: Temporal.PlainDate, timeZone: string): string =>
  day.toZonedDateTime({ timeZone }).toInstant().toString({ smallestUnit: 'millisecond' });

/** Returns when a date begins and ends in a time zone. A day has 23 or 25 hours where the clocks change. */
export function dayRange(date: string, timeZone: string): DayRange {
  const day = Temporal.PlainDate.from(date);
  return { startsAt: computeDayStart(day, timeZone), endsAt: computeDayStart(day.add({ days: 1 }), timeZone) };
}

/** Returns the last days up to today in a time zone, oldest first, as `2026-11-20`. */
export function lastDays(count: number, timeZone: string, now: Date = new Date()): string[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
  return Array.from({ length: count }, (_, index) => today.subtract({ days: count - 1 - index }).toString());
}
