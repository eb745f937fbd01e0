import { readRepeat, type WrittenRepeat } from '../../../platform/written-repeats.js';
import { type Cron, parseCron } from './cron.js';

/** Schedules in words: `every monday at 9:00` is the cron line `0 9 * * MON`. */

export type WrittenSchedule = { cron: string } | { problem: string };

const HINT = 'write every monday at 9:00, every 15 minutes, or the five fields of cron';
const DAYS: Readonly<Record<string, string>> = { MO: 'MON', TU: 'TUE', WE: 'WED', TH: 'THU', FR: 'FRI', SA: 'SAT', SU: 'SUN' };

/** A step of cron begins anew at each hour, day or year: only a divisor is the same length every time. */
const step = (every: number, of: number): string | undefined => {
  if (every === 1) return '*';
  return of % every === 0 ? `*/${every}` : undefined;
};

const uneven = ({ every, unit }: WrittenRepeat): WrittenSchedule => ({
  problem: `A schedule cannot run every ${every} ${unit}s: choose a number that divides ${{ minute: 60, hour: 24, month: 12 }[unit as 'month']}`,
});

/** Minute, hour, day of month, month, day of week; or what the words lack. */
function toFields(repeat: WrittenRepeat): string[] | WrittenSchedule {
  const { unit, every, byDay, byMonthDay, time, start } = repeat;
  const isWithinDay = unit === 'minute' || unit === 'hour';
  if (isWithinDay && time !== null)
    return { problem: `A schedule of ${unit}s begins at the full hour: leave out the time of day` };
  if (unit === 'minute') {
    const minutes = step(every, 60);
    return minutes === undefined ? uneven(repeat) : [minutes, '*', '*', '*', '*'];
  }
  if (unit === 'hour') {
    const hours = step(every, 24);
    return hours === undefined ? uneven(repeat) : ['0', hours, '*', '*', '*'];
  }
  if (time === null) return { problem: 'Say at which time: add “at 9:00”' };
  const [hour, minute] = time.split(':').map((part) => String(Number(part))) as [string, string];
  const clock = [minute, hour];
  if (unit === 'month') {
    const months = step(every, 12);
    if (months === undefined) return uneven(repeat);
    if (byMonthDay.length === 0)
      return { problem: byDay.length > 0 ? NO_NTH : 'Say on which day of the month: add “on the 1st”' };
    if (byMonthDay.some((day) => day < 0))
      return { problem: 'A schedule cannot count days from the end of a month: choose the 28th, or the 1st' };
    return [...clock, byMonthDay.join(','), months, '*'];
  }
  if (every !== 1) return { problem: `A schedule cannot skip ${unit}s: choose days of the week or of the month` };
  if (unit === 'day') return [...clock, '*', '*', '*'];
  if (unit === 'week') {
    if (byDay.length === 0) return { problem: 'Say on which day of the week: add “on monday”' };
    return [...clock, '*', '*', byDay.map((day) => DAYS[day] ?? day).join(',')];
  }
  if (start === null) return { problem: 'Say on which day of the year: add “on 1 december”' };
  return [...clock, String(Number(start.slice(8))), String(Number(start.slice(5, 7))), '*'];
}
const NO_NTH = 'A schedule cannot count the weeks of a month: choose days of the month, or every week';

/** Words begin with a letter that no field of cron begins with, or have not five parts. */
const isCron = (text: string): boolean => /^[\d*]/.test(text);

/**
 * Reads the times of a schedule: words, or a cron line, which is returned as it is.
 * @param today YYYY-MM-DD where the person is
 */
export function readSchedule(text: string, today: string): WrittenSchedule {
  const said = text.trim();
  if (said === '' || isCron(said)) return { cron: said };
  const found = readRepeat(said, today);
  if (found === undefined || found === 'impossible') return { problem: `“${said.slice(0, 100)}” is no schedule: ${HINT}` };
  if (found === 'unclear') return { problem: `“${said.slice(0, 100)}” can mean two things: ${HINT}` };
  if (found.until !== null || found.count !== null || found.onSchedule)
    return { problem: 'A schedule has no end: disable the automation instead' };
  if (found.start !== null && found.unit !== 'year') return { problem: 'A schedule starts when the automation is enabled' };
  const fields = toFields(found);
  return Array.isArray(fields) ? { cron: fields.join(' ') } : fields;
}

const NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const list = new Intl.ListFormat('en');
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
const formatDay = (day: number): string => `${day}${ENDINGS[ordinals.select(day)] ?? 'th'}`;
/** Times of a day that words still list. */
const MAX_TIMES = 3;

/** Returns the step of values that begin at 0 and fill their range evenly; undefined for others. */
function stepOf(values: readonly number[], of: number): number | undefined {
  const every = values[1] ?? of;
  return values[0] === 0 && of % every === 0 && values.length === of / every ? every : undefined;
}

function daysInWords({ dayOfMonth, dayOfWeek, month, eitherDay }: Cron): string | null {
  if (month.length !== 12 || eitherDay) return null;
  if (dayOfMonth.length === 31 && dayOfWeek.length === 7) return 'every day';
  if (dayOfMonth.length === 31)
    return dayOfWeek.join() === '1,2,3,4,5'
      ? 'every weekday'
      : `every ${list.format(dayOfWeek.map((day) => NAMES[day] as string))}`;
  return dayOfWeek.length === 7 ? `on the ${list.format(dayOfMonth.map(formatDay))} of every month` : null;
}

/** Describes a cron line: `every Monday and Friday at 9:00`. Null for one that is too irregular for words, or none. */
export function scheduleInWords(source: string): string | null {
  const parsed = parseCron(source);
  if (!parsed.ok) return null;
  const { minute, hour } = parsed.cron;
  const days = daysInWords(parsed.cron);
  if (days === null) return null;
  const [minutes, hours] = [stepOf(minute, 60), stepOf(hour, 24)];
  if (days === 'every day' && hours === 1 && minutes !== undefined && minutes < 60)
    return minutes === 1 ? 'every minute' : `every ${minutes} minutes`;
  if (days === 'every day' && minutes === 60 && hours !== undefined && hours < 24)
    return hours === 1 ? 'every hour' : `every ${hours} hours`;
  if (minute.length * hour.length > MAX_TIMES) return null;
  const times = hour.flatMap((h) => minute.map((m) => `${h}:${String(m).padStart(2, '0')}`));
  return `${days} at ${list.format(times)}`;
}
