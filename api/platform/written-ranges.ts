import { addTo } from './calendar-days.js';
import {
  endOfMonth,
  MAX_WORDS,
  mondayOf,
  MONTHS,
  plusDays,
  readDay,
  readDuration,
  startOfMonth,
  type WrittenDate,
} from './written-days.js';

/** Days from and to, both included, YYYY-MM-DD. */
export interface DateRange {
  from?: string;
  to?: string;
}

type Whole = Required<DateRange>;

const PERIODS: Readonly<Record<string, (today: string, shift: number) => Whole>> = {
  week: (today, shift) => {
    const from = plusDays(mondayOf(today), 7 * shift);
    return { from, to: plusDays(from, 6) };
  },
  month: (today, shift) => ({ from: startOfMonth(today, shift), to: endOfMonth(today, shift) }),
  weekend: (today, shift) => ({ from: plusDays(mondayOf(today), 5 + 7 * shift), to: plusDays(mondayOf(today), 6 + 7 * shift) }),
  year: (today, shift) => {
    const year = Number(today.slice(0, 4)) + shift;
    return { from: `${year}-01-01`, to: `${year}-12-31` };
  },
};
const SHIFTS: Readonly<Record<string, number>> = { this: 0, the: 0, next: 1, coming: 1, last: -1, past: -1, previous: -1 };

const dayOf = (date: WrittenDate | undefined): string | undefined =>
  typeof date === 'object' && date.date !== null ? date.date : undefined;

/** A whole period, such as `next week`, or one day. */
function readDays(words: readonly string[], today: string): Whole | undefined {
  const period = words.length <= 3 ? readPeriod(words, today) : undefined;
  if (period) return period;
  const day = dayOf(readDay(words, today));
  return day === undefined ? undefined : { from: day, to: day };
}

/** What is left of a period, or of a day, by the word before it: what is due after next week is not due in it. */
const BOUNDS: Readonly<Record<string, (days: Whole) => DateRange>> = {
  before: ({ from }) => ({ to: plusDays(from, -1) }),
  after: ({ to }) => ({ from: plusDays(to, 1) }),
  beyond: ({ to }) => ({ from: plusDays(to, 1) }),
  since: ({ from }) => ({ from }),
  from: ({ from }) => ({ from }),
};

/** Reads a range of days, such as `this week`, `the next ten days`, `before Friday`, `in December`. */
export function readRange(words: readonly string[], today: string): DateRange | undefined {
  const [first = '', ...rest] = words;
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  if (first === 'by' || first === 'until' || first === 'till') {
    const day = dayOf(readDay(rest, today));
    return day === undefined ? undefined : { to: day };
  }
  const bound = Object.hasOwn(BOUNDS, first) ? BOUNDS[first] : undefined;
  if (bound) {
    const days = readDays(rest, today);
    return days && bound(days);
  }
  const plain = ['in', 'within', 'on', 'for', 'during', 'over'].includes(first) ? rest : words;
  const period = words.length <= 3 ? readPeriod(plain, today) : undefined;
  if (period) return period;
  const [, ...behind] = plain[0] === 'the' ? plain : ['the', ...plain];
  if (['next', 'coming', 'following', 'last', 'past'].includes(behind[0] ?? '')) {
    const duration = readDuration(behind.slice(1).length === 1 ? ['one', ...behind.slice(1)] : behind.slice(1));
    const isPast = behind[0] === 'last' || behind[0] === 'past';
    if (duration && isPast) return { from: addTo(today, { days: -duration.days, months: -duration.months }), to: today };
    if (duration) return { from: today, to: addTo(today, duration) };
  }
  if (first === 'within') {
    const duration = readDuration(rest);
    if (duration) return { from: today, to: addTo(today, duration) };
  }
  const day = dayOf(readDay(words, today)) ?? dayOf(readDay(plain, today));
  return day === undefined ? undefined : { from: day, to: day };
}

function readPeriod(words: readonly string[], today: string): Whole | undefined {
  const named = words.length === 1 ? MONTHS.indexOf(words[0] ?? '') : -1;
  if (named >= 0) {
    const away = (named + 1 - Number(today.slice(5, 7)) + 12) % 12;
    return { from: startOfMonth(today, away), to: endOfMonth(today, away) };
  }
  const rest = words[0] === 'the' && words.length === 3 ? words.slice(1) : words;
  const [which = '', unit = ''] = rest;
  const shift = Object.hasOwn(SHIFTS, which) ? SHIFTS[which] : undefined;
  const period = Object.hasOwn(PERIODS, unit) ? PERIODS[unit] : undefined;
  return rest.length === 2 && shift !== undefined && period ? period(today, shift) : undefined;
}
