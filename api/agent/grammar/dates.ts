import { addTo } from '../../platform/calendar-days.js';
import type { DateRange, DueDate, Duration } from './terms.js';
import { readNumber } from './words.js';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const MAX_DAYS = 3_650;
const ISO = /^(\d{4})-(\d{2})-(\d{2})$/;
const GERMAN = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)?$/;
const LEADING = new Set(['on', 'at', 'by', 'until', 'till', 'to', 'for', 'before', 'no', 'later', 'than']);

const toIso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const toMs = (date: string): number => Date.parse(`${date}T00:00:00Z`);

const plusDays = (date: string, days: number): string => addTo(date, { days });
/** 0 is Monday. */
const weekday = (date: string): number => (new Date(toMs(date)).getUTCDay() + 6) % 7;
const mondayOf = (date: string): string => plusDays(date, -weekday(date));
const endOfMonth = (date: string, months = 0): string =>
  toIso(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) + months, 0));
const startOfMonth = (date: string, months = 0): string =>
  toIso(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1 + months, 1));

const findIn = (names: readonly string[], word = ''): number =>
  word.length < 3
    ? -1
    : names.findIndex((name) => name === word || name.slice(0, 3) === word || (word.length === 4 && name.startsWith(word)));
/** 0 is Monday; -1 for no weekday. */
const readWeekday = (word: string | undefined): number => {
  const day = findIn(DAYS, word);
  return day < 0 ? -1 : (day + 6) % 7;
};

function checked(year: number, month: number, day: number): DueDate {
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? { date: toIso(ms) } : 'impossible';
}

const UNITS: Readonly<Record<string, Duration>> = {
  day: { days: 1, months: 0 },
  week: { days: 7, months: 0 },
  fortnight: { days: 14, months: 0 },
  month: { days: 0, months: 1 },
  quarter: { days: 0, months: 3 },
  year: { days: 0, months: 12 },
};
const readUnit = (word = ''): Duration | undefined => UNITS[word.replace(/s$/, '')];

/** Reads a length of time, such as `a week`, `two more days`, `another month`. */
export function readDuration(words: readonly string[]): Duration | undefined {
  let [...rest] = words;
  if (rest[0] === 'by' || rest[0] === 'for') rest = rest.slice(1);
  rest = rest.filter((word) => !['more', 'extra', 'other', 'additional', 'of', 'time', 'calendar', "'s"].includes(word));
  if (rest[0] === 'a' && rest[1] === 'couple') rest = ['two', ...rest.slice(2)];
  if (rest[0] === 'the' || rest[0] === 'one' || (rest.length === 1 && !rest[0]?.endsWith('s')))
    rest = ['1', ...rest.slice(rest.length === 1 ? 0 : 1)];
  const count = readNumber(rest[0]);
  const unit = readUnit(rest[1]);
  if (count === undefined || !unit || rest.length !== 2 || count * (unit.days + 31 * unit.months) > MAX_DAYS) return undefined;
  return { days: count * unit.days, months: count * unit.months };
}

type ReadDay = (words: readonly string[], today: string) => DueDate | undefined;

const FIXED: Readonly<Record<string, (today: string) => string | null>> = {
  none: () => null,
  nothing: () => null,
  never: () => null,
  today: (today) => today,
  tonight: (today) => today,
  eod: (today) => today,
  'end of day': (today) => today,
  'the end of the day': (today) => today,
  'end of the day': (today) => today,
  tomorrow: (today) => plusDays(today, 1),
  yesterday: (today) => plusDays(today, -1),
  'day after tomorrow': (today) => plusDays(today, 2),
  'the day after tomorrow': (today) => plusDays(today, 2),
  'next week': (today) => plusDays(mondayOf(today), 7),
  'next month': (today) => startOfMonth(today, 1),
  weekend: (today) => plusDays(mondayOf(today), 5),
  eow: (today) => endOfWeek(today),
  eom: (today) => endOfMonth(today),
};

/** Friday of the week; from Saturday on, the Sunday. */
const endOfWeek = (today: string): string => plusDays(mondayOf(today), weekday(today) > 4 ? 6 : 4);

const fixed: ReadDay = (words, today) => {
  const name = words.filter((word, at) => !(at === 0 && ['this', 'the'].includes(word) && words.length === 2)).join(' ');
  const day = Object.hasOwn(FIXED, name) ? FIXED[name] : undefined;
  return day && { date: day(today) };
};

/** `[this|next|coming] WEEKDAY [next week]`. Alone it is the next one, never today; `next` means the one of the next week. */
const byWeekday: ReadDay = (words, today) => {
  const isNext = words[0] === 'next' || words.slice(-2).join(' ') === 'next week' || words.slice(0, 2).join(' ') === 'next week';
  const rest = words.filter((word) => !['next', 'this', 'coming', 'the', 'week', 'of', 'on'].includes(word));
  const day = readWeekday(rest[0]);
  if (day < 0 || rest.length !== 1) return undefined;
  if (isNext) return { date: plusDays(mondayOf(today), 7 + day) };
  return { date: plusDays(today, ((day - weekday(today) + 6) % 7) + 1) };
};

/** `in DURATION`, `DURATION from now`, `a week from Friday`. */
const byDuration: ReadDay = (words, today) => {
  const from = words.indexOf('from');
  if (words[0] !== 'in' && words[0] !== 'within' && from < 0) return undefined;
  const base = from < 0 || words[from + 1] === 'now' ? today : readDay(words.slice(from + 1), today);
  const date = typeof base === 'string' ? base : typeof base === 'object' ? base.date : null;
  const rest = words.slice(words[0] === 'in' || words[0] === 'within' ? 1 : 0, from < 0 ? undefined : from);
  if (date === null) return undefined;
  const duration = readDuration(rest);
  if (duration) return { date: addTo(date, duration) };
  return /^\d{4,}$/.test(rest[0] ?? '') && readUnit(rest[1]) ? 'impossible' : undefined;
};

/** `(start|end) of [this|next] (week|month|quarter|year|MONTH)` */
const byBorder: ReadDay = (words, today) => {
  const rest = words.filter((word) => word !== 'the' && word !== 'of' && word !== 'this' && word !== 'very');
  const isEnd = rest[0] === 'end';
  if (!isEnd && rest[0] !== 'start' && rest[0] !== 'beginning') return undefined;
  const isNext = rest[1] === 'next';
  const unit = rest[isNext ? 2 : 1];
  if (rest.length !== (isNext ? 3 : 2)) return undefined;
  const month = Number(today.slice(5, 7));
  if (unit === 'week') {
    const monday = plusDays(mondayOf(today), isNext || !isEnd ? 7 : 0);
    return { date: isEnd ? (isNext ? plusDays(monday, 4) : endOfWeek(today)) : monday };
  }
  const ahead = isNext || !isEnd ? 1 : 0;
  if (unit === 'month') return { date: isEnd ? endOfMonth(today, ahead) : startOfMonth(today, ahead) };
  if (unit === 'quarter') {
    const last = 3 * Math.ceil(month / 3) - month + 3 * ahead;
    return { date: isEnd ? endOfMonth(today, last) : startOfMonth(today, last - 2) };
  }
  if (unit === 'year') return { date: `${Number(today.slice(0, 4)) + ahead}-${isEnd ? '12-31' : '01-01'}` };
  const named = findIn(MONTHS, unit);
  if (named < 0) return undefined;
  const away = (named + 1 - month + 12) % 12;
  return { date: isEnd ? endOfMonth(today, away) : startOfMonth(today, isEnd || away > 0 ? away : 12) };
};

/** `5 December`, `December 5th, 2026`, `the 15th`. Without a year the next one. */
const byMonth: ReadDay = (words, today) => {
  const rest = words.filter((word) => word !== 'the' && word !== 'of' && word !== '');
  const year = /^\d{4}$/.test(rest[2] ?? '') ? Number(rest[2]) : undefined;
  const at = rest.findIndex((word) => findIn(MONTHS, word) >= 0);
  const number = ORDINAL.exec(rest[at === 0 ? 1 : 0] ?? '');
  if (!number || rest.length > (year === undefined ? 2 : 3)) return undefined;
  const day = Number(number[1]);
  const thisYear = Number(today.slice(0, 4));
  if (at < 0) {
    if (rest.length !== 1 || !/[a-z]$/.test(rest[0] ?? '')) return undefined;
    const months = day >= Number(today.slice(8)) ? 0 : 1;
    const [y, m] = startOfMonth(today, months).split('-').map(Number) as [number, number];
    return checked(y, m, day);
  }
  const month = findIn(MONTHS, rest[at]) + 1;
  if (year !== undefined) return checked(year, month, day);
  const found = checked(thisYear, month, day);
  return typeof found === 'object' && (found.date ?? '') < today ? checked(thisYear + 1, month, day) : found;
};

const byNumbers: ReadDay = (words) => {
  const [word = ''] = words;
  const slashed = words.length >= 3 && words[1] === '/' && /^\d{1,2}$/.test(word);
  if (slashed) return 'unclear';
  if (words.length !== 1) return undefined;
  const iso = ISO.exec(word);
  if (iso) return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const german = GERMAN.exec(word);
  return german ? checked(Number(german[3]), Number(german[2]), Number(german[1])) : undefined;
};

const READERS: readonly ReadDay[] = [fixed, byWeekday, byNumbers, byMonth, byBorder, byDuration];
const MAX_WORDS = 7;

function readDay(words: readonly string[], today: string): DueDate | undefined {
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  for (const read of READERS) {
    const found = read(words, today);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Reads a date from folded words. A weekday is the next one, never today.
 * @param today YYYY-MM-DD where the person is
 * @returns undefined if the words are no date
 */
export function readDate(words: readonly string[], today: string): DueDate | undefined {
  let at = 0;
  while (at < words.length - 1 && at < 3 && LEADING.has(words[at] as string)) at += 1;
  return readDay(words.slice(at), today);
}

const PERIODS: Readonly<Record<string, (today: string, shift: number) => DateRange>> = {
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

const dayOf = (date: DueDate | undefined): string | undefined =>
  typeof date === 'object' && date.date !== null ? date.date : undefined;

/** Reads a range of days, such as `this week`, `the next ten days`, `before Friday`, `in December`. */
export function readRange(words: readonly string[], today: string): DateRange | undefined {
  const [first = '', ...rest] = words;
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  if (first === 'before') {
    const day = dayOf(readDay(rest, today));
    return day === undefined ? undefined : { to: plusDays(day, -1) };
  }
  if (first === 'by' || first === 'until' || first === 'till') {
    const day = dayOf(readDay(rest, today));
    return day === undefined ? undefined : { to: day };
  }
  if (first === 'after' || first === 'since' || first === 'from') {
    const day = dayOf(readDay(rest, today));
    return day === undefined ? undefined : { from: first === 'after' ? plusDays(day, 1) : day };
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

function readPeriod(words: readonly string[], today: string): DateRange | undefined {
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
