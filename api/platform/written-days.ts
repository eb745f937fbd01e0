import { addTo } from './calendar-days.js';

/** Reads days and lengths of time as people write them, in lower case. Pure: the caller says which day is today. */

/** A date, YYYY-MM-DD; null for none. `impossible`: a day that no calendar has. `unclear`: day and month could be either. */
export type WrittenDate = { date: string | null } | 'impossible' | 'unclear';
/** A length of time: days, or months. */
export interface Duration {
  days: number;
  months: number;
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
export const MONTHS = 'january february march april may june july august september october november december'.split(' ');
/** A length of time is at most so many units, or so many days. */
const MAX_COUNT = 999;
const MAX_DAYS = 3_650;
const ISO = /^([1-9]\d{3})-(\d{2})-(\d{2})$/;
const GERMAN = /^(\d{1,2})\.(\d{1,2})\.([1-9]\d{3})$/;
/** A day of the years that dates have: counting from the last of them leads further. */
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const YEAR = /^[1-9]\d{3}$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)?$/;
const LEADING = new Set(['on', 'at', 'by', 'until', 'till', 'to', 'for', 'before', 'no', 'later', 'than']);

const toIso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const toMs = (date: string): number => Date.parse(`${date}T00:00:00Z`);

export const plusDays = (date: string, days: number): string => addTo(date, { days });
/** 0 is Monday. */
const weekday = (date: string): number => (new Date(toMs(date)).getUTCDay() + 6) % 7;
export const mondayOf = (date: string): string => plusDays(date, -weekday(date));
export const endOfMonth = (date: string, months = 0): string =>
  toIso(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) + months, 0));
export const startOfMonth = (date: string, months = 0): string =>
  toIso(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1 + months, 1));

const SHORTEST_NAME = 3;
/** Returns the place of a name, or of its beginning of three letters or more; -1 for another word. */
const findIn = (names: readonly string[], word = ''): number =>
  word.length < SHORTEST_NAME ? -1 : names.findIndex((name) => name.startsWith(word));

const NUMBERS = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, value) => [word, value] as const),
);
/** Reads a count in digits or as a word; undefined for anything else. */
export function readNumber(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (word === 'a' || word === 'an' || word === 'another') return 1;
  return /^\d{1,4}$/.test(word) ? Number(word) : NUMBERS.get(word);
}
/** 0 is Monday; -1 for no weekday. */
export const readWeekday = (word: string | undefined): number => {
  const day = findIn(DAYS, word);
  return day < 0 ? -1 : (day + 6) % 7;
};

function checked(year: number, month: number, day: number): WrittenDate {
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
  if (count === undefined || !unit || rest.length !== 2) return undefined;
  if (count > MAX_COUNT && count * (unit.days + 31 * unit.months) > MAX_DAYS) return undefined;
  return { days: count * unit.days, months: count * unit.months };
}

type ReadDay = (words: readonly string[], today: string) => WrittenDate | undefined;

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
  tmr: (today) => plusDays(today, 1),
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
  const base = from < 0 || words[from + 1] === 'now' ? { date: today } : readDay(words.slice(from + 1), today);
  const rest = words.slice(words[0] === 'in' || words[0] === 'within' ? 1 : 0, from < 0 ? undefined : from);
  const duration = readDuration(rest);
  if (duration && typeof base === 'object') return base.date === null ? undefined : { date: addTo(base.date, duration) };
  if (duration) return base;
  return base !== undefined && /^\d{4,}$/.test(rest[0] ?? '') && readUnit(rest[1]) ? 'impossible' : undefined;
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
  const year = YEAR.test(rest[2] ?? '') ? Number(rest[2]) : undefined;
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
  return typeof found === 'object' && (found.date ?? '') >= today ? found : checked(thisYear + 1, month, day);
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
export const MAX_WORDS = 7;

/** Reads words that are a day as a whole. */
export function readDay(words: readonly string[], today: string): WrittenDate | undefined {
  if (words.length === 0 || words.length > MAX_WORDS) return undefined;
  for (const read of READERS) {
    const found = read(words, today);
    if (found === undefined) continue;
    const isBeyond = typeof found === 'object' && found.date !== null && !DAY.test(found.date);
    return isBeyond ? 'impossible' : found;
  }
  return undefined;
}

/**
 * Reads a date from folded words. A weekday is the next one, never today.
 * @param today YYYY-MM-DD where the person is
 * @returns undefined if the words are no date
 */
export function readDate(words: readonly string[], today: string): WrittenDate | undefined {
  let at = 0;
  while (at < words.length - 1 && at < 3 && LEADING.has(words[at] as string)) at += 1;
  return readDay(words.slice(at), today);
}

/** Longest day at the beginning of a text, in words: `the 24th of december 2026`. */
const MAX_LEADING = 5;

/** Reads the longest day that a list of words begins with; undefined for none. */
export function readLeadingDay(words: readonly string[], today: string): { day: string; words: number } | undefined {
  for (let count = Math.min(MAX_LEADING, words.length); count > 0; count -= 1) {
    const found = readDay(words.slice(0, count), today);
    if (typeof found === 'object' && found.date !== null) return { day: found.date, words: count };
  }
  return undefined;
}

/** Returns the words at the beginning that mean a date, such as `31 feb` or `feb 31`, also if there is no such date. */
export function dateWords([first = '', second = '', third = '']: readonly string[]): string {
  if (findIn(MONTHS, second) < 0 && !(findIn(MONTHS, first) >= 0 && ORDINAL.test(second))) return first;
  return YEAR.test(third) ? `${first} ${second} ${third}` : `${first} ${second}`;
}
