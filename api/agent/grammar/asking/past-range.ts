import { addTo } from '../../../platform/calendar-days.js';
import { type DateRange, readRange } from '../../../platform/written-ranges.js';

const RECENT_DAYS = 7;
const WEEKDAY = /^(mon|tues|wednes|thurs|fri|satur|sun)days?$/;
/** Words that name days of now or before, without being a date. */
const FIXED: Readonly<Record<string, (today: string) => DateRange>> = {
  'this morning': (today) => ({ from: today, to: today }),
  'this afternoon': (today) => ({ from: today, to: today }),
  'this evening': (today) => ({ from: today, to: today }),
  'last night': (today) => ({ from: addTo(today, { days: -1 }), to: today }),
  overnight: (today) => ({ from: addTo(today, { days: -1 }), to: today }),
  lately: (today) => ({ from: addTo(today, { days: -RECENT_DAYS }), to: today }),
  recently: (today) => ({ from: addTo(today, { days: -RECENT_DAYS }), to: today }),
  'the day before yesterday': (today) => ({ from: addTo(today, { days: -2 }), to: addTo(today, { days: -2 }) }),
};

/** The days of the feed that a question without a date means. */
export const recentDays = (today: string): DateRange => ({ from: addTo(today, { days: -RECENT_DAYS }), to: today });

/**
 * Reads days that are over, or today: `yesterday`, `last week`, `since Monday`. A weekday is the last one, and a date the last one.
 * @returns undefined for days to come, and for words that are none
 */
export function readPastRange(words: readonly string[], today: string): DateRange | undefined {
  const rest = words.filter((word, at) => !(word === 'so' || word === 'far' || (word === 'earlier' && at === 0)));
  const said = rest.join(' ');
  if (Object.hasOwn(FIXED, said)) return (FIXED[said] as (typeof FIXED)[string])(today);
  const hasWeekday = rest.some((word) => WEEKDAY.test(word));
  // `last Monday` is the one before today, as `Monday` is.
  const range = readRange(hasWeekday ? rest.filter((word) => word !== 'last') : rest, today);
  if (!range?.from) return undefined;
  if (range.from <= today) return range.to !== undefined && range.to > today ? { ...range, to: today } : range;
  if (rest.includes('next') || rest.includes('tomorrow') || rest.includes('in')) return undefined;
  const back = (day: string): string => addTo(day, hasWeekday ? { days: -7 } : { months: -12 });
  const from = back(range.from);
  return from > today ? undefined : { from, ...(range.to !== undefined && { to: back(range.to) }) };
}
