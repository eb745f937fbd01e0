import { MONTHS, readLeadingDay, readNumber } from './written-days.js';
import {
  countBetween,
  ofMonth,
  type Read,
  readDayNames,
  type Reader,
  readMonthDays,
  readNth,
  readNthDay,
  readNthDays,
  readTime,
  WEEKDAY_CODES,
  type Words,
} from './written-parts.js';

/** Reads how often something repeats, as people write it, in lower case. Pure: the caller says which day is today. */

type RepeatUnit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

/** How often something repeats. */
export interface WrittenRepeat {
  unit: RepeatUnit;
  /** Every so many units. */
  every: number;
  /** Days of the week as iCalendar writes them: `MO`; of a month `1MO` is the first Monday, `-1FR` the last Friday. */
  byDay: string[];
  /** Days of the month; -1 is the last one. */
  byMonthDay: number[];
  /** Time of day: `09:00`. */
  time: string | null;
  /** Day of which the words speak: the first one, or that of the year. */
  start: string | null;
  /** Last day, inclusive. */
  until: string | null;
  /** How many times altogether. */
  count: number | null;
  /** The next one comes at its date, whether the one before is done or not. */
  onSchedule: boolean;
}

/** `impossible`: a repeat that no calendar has. `unclear`: the words have two meanings. */
export type FoundRepeat = WrittenRepeat | 'impossible' | 'unclear';

const WORKING_DAYS = WEEKDAY_CODES.slice(0, 5);
const MAX_EVERY = 99;
const MAX_COUNT = 999_999;

const UNITS: Readonly<Record<string, readonly [RepeatUnit, number]>> = {
  minute: ['minute', 1],
  min: ['minute', 1],
  hour: ['hour', 1],
  day: ['day', 1],
  week: ['week', 1],
  fortnight: ['week', 2],
  month: ['month', 1],
  quarter: ['month', 3],
  year: ['year', 1],
};
const ADVERBS: Readonly<Record<string, readonly [RepeatUnit, number]>> = {
  hourly: ['hour', 1],
  daily: ['day', 1],
  weekly: ['week', 1],
  fortnightly: ['week', 2],
  biweekly: ['week', 2],
  monthly: ['month', 1],
  quarterly: ['month', 3],
  yearly: ['year', 1],
  annually: ['year', 1],
};
const own = <T>(table: Readonly<Record<string, T>>, word = ''): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
const readUnit = (word = '') => own(UNITS, word) ?? own(UNITS, word.replace(/s$/, ''));

/** Days of each week: `monday and friday`. */
const readDaysOfWeek: Reader<Partial<WrittenRepeat>> = (words) => {
  const found = readDayNames(words);
  return found && { value: { unit: 'week', every: 1, byDay: found.value }, words: found.words };
};
type Part = Partial<WrittenRepeat>;
type PartReader = (words: Words, today: string) => Read<Part | 'impossible' | 'unclear'> | undefined;

/** `every working day`, `every weekend`. */
const readKindOfDay: Reader<Part> = ([word = '', next = '']) => {
  if (['weekday', 'weekdays', 'workday', 'workdays'].includes(word))
    return { value: { unit: 'week', every: 1, byDay: WORKING_DAYS }, words: 1 };
  if (['working', 'business', 'work', 'week'].includes(word) && ['day', 'days'].includes(next))
    return { value: { unit: 'week', every: 1, byDay: WORKING_DAYS }, words: 2 };
  if (word === 'weekend' || word === 'weekends') return { value: { unit: 'week', every: 1, byDay: ['SA'] }, words: 1 };
  return undefined;
};

/** Days of each month: `the 1st and 15th`, `the last friday`, each also with `of the month`. */
const readDaysOfMonth = (words: Words): (Read<Part> & { saysMonth: boolean }) | undefined => {
  const nthDays = readNthDays(words);
  const days = nthDays ? undefined : readMonthDays(words);
  const found = nthDays ?? days;
  if (!found) return undefined;
  const of = ofMonth(words.slice(found.words));
  const value: Part = { unit: 'month', every: 1, ...(nthDays ? { byDay: nthDays.value } : { byMonthDay: days?.value ?? [] }) };
  return { value, words: found.words + of, saysMonth: of > 0 };
};
const readSaidMonth = (words: Words): Read<Part> | undefined => {
  const found = readDaysOfMonth(words);
  return found?.saysMonth ? found : undefined;
};
/** Without `of the month`: the first or last such day of a month, or `15th` at the end of the words. */
const readBareMonth = (words: Words): Read<Part> | undefined => {
  const found = readDaysOfMonth(words);
  return found && (found.value.byDay || found.words === words.length) ? found : undefined;
};

const isMonth = (word: string): boolean => word.length > 2 && MONTHS.some((month) => month.startsWith(word));
/** `25 december`, `the 25th of december`. */
const readDayOfYear: PartReader = (words, today) => {
  const found = readLeadingDay(words.slice(0, 4), today);
  const taken = words.slice(0, found?.words ?? 0);
  if (!found || !taken.some(isMonth) || !taken.some((word) => /^\d{1,2}(st|nd|rd|th)?$/.test(word))) return undefined;
  return { value: { unit: 'year', every: 1, start: found.day }, words: found.words };
};

/** How many: `other`, `2`, `two`, `second` before a unit. */
const readEvery: Reader<number> = ([word = '']) => {
  if (word === 'other') return { value: 2, words: 1 };
  if (word === 'single') return { value: 1, words: 1 };
  const count = readNumber(word) ?? readNth([word])?.value;
  return count === undefined || count < 0 ? undefined : { value: count, words: 1 };
};

/** `2 weeks`, `other monday`. */
const readCounted: PartReader = (words) => {
  const every = readEvery(words);
  const at = every?.words ?? 0;
  const unit = readUnit(words[at]);
  if (unit) {
    const value = { unit: unit[0], every: (every?.value ?? 1) * unit[1] };
    return { value: value.every < 1 || value.every > MAX_EVERY ? 'impossible' : value, words: at + 1 };
  }
  const days = every === undefined || words[0] === 'other' ? readDaysOfWeek(words.slice(at)) : undefined;
  return days && { value: { ...days.value, every: every?.value ?? 1 }, words: at + days.words };
};

/** `second monday` can be every two weeks, or once a month. */
const readUnclear: PartReader = (words) => {
  const nth = readNthDay(words);
  if (!nth || /^(1|-1)\D/.test(nth.value) || ofMonth(words.slice(readNthDays(words)?.words)) > 0) return undefined;
  return { value: 'unclear', words: nth.words };
};

const firstOf =
  (readers: readonly PartReader[]): PartReader =>
  (words, today) => {
    for (const read of readers) {
      const found = read(words, today);
      if (found) return found;
    }
    return undefined;
  };

const readAfterEvery = firstOf([readKindOfDay, readUnclear, readSaidMonth, readCounted, readBareMonth, readDayOfYear]);

/** The beginning: how often. */
const readHead: PartReader = (words, today) => {
  const [first = '', ...rest] = words;
  const adverb = own(ADVERBS, first);
  if (adverb) return { value: { unit: adverb[0], every: adverb[1] }, words: 1 };
  if (first === 'every' || first === 'each') {
    const found = readAfterEvery(rest, today);
    return found && { ...found, words: found.words + 1 };
  }
  const on = first === 'on' ? 1 : 0;
  const after = words.slice(on);
  const isPlural = /^\p{L}+days$/u.test(after[0] ?? '');
  const found = (isPlural ? (readKindOfDay(after) ?? readDaysOfWeek(after)) : undefined) ?? readSaidMonth(after);
  return found && { value: found.value, words: found.words + on };
};

const hasDays = ({ byDay, byMonthDay, start }: WrittenRepeat): boolean =>
  byDay.length > 0 || byMonthDay.length > 0 || start !== null;

const DAYS_WITHIN: Readonly<Record<string, PartReader>> = {
  week: (words) => readDaysOfWeek(words) ?? readKindOfDay(words),
  month: readDaysOfMonth,
  year: readDayOfYear,
};
/** `on monday`, `on the 1st`, `on 25 december`: the days within the unit. */
const readOn = (words: Words, today: string, so: WrittenRepeat): Read<Part> | undefined => {
  if (words[0] !== 'on' || hasDays(so)) return undefined;
  const found = own(DAYS_WITHIN, so.unit)?.(words.slice(1), today);
  if (!found || typeof found.value === 'string') return undefined;
  const { unit: _unit, every: _every, ...days } = found.value;
  return { value: days, words: found.words + 1 };
};

const DONE_OR_NOT = ['done', 'or', 'not'];
const AFTER_DONE = ['after', 'the', 'last', 'one', 'is', 'done'];
const BORDERS = { until: 'until', till: 'until', starting: 'start', from: 'start' } as const satisfies Record<
  string,
  keyof WrittenRepeat
>;
const startsWith = (words: Words, phrase: Words): boolean => phrase.every((word, at) => words[at] === word);

/** A further part: days, a time, an end, a beginning. */
function readTail(words: Words, today: string, so: WrittenRepeat): Read<Part> | undefined {
  const [first = '', second = ''] = words;
  const on = readOn(words, today, so);
  if (on) return on;
  const time = so.time === null ? readTime(words) : undefined;
  if (time) return { value: { time: time.value }, words: time.words };
  const border = own(BORDERS, first);
  const day = border && so[border] === null ? readLeadingDay(words.slice(1), today) : undefined;
  if (border && day) return { value: { [border]: day.day }, words: day.words + 1 };
  const count = /^\d{5,6}$/.test(first) ? Number(first) : readNumber(first);
  if (/^times?$/.test(second) && count !== undefined && so.count === null) return { value: { count }, words: 2 };
  if (startsWith(words, DONE_OR_NOT)) return { value: { onSchedule: true }, words: DONE_OR_NOT.length };
  if (startsWith(words, AFTER_DONE)) return { value: { onSchedule: false }, words: AFTER_DONE.length };
  return undefined;
}

const isPossible = ({ byDay, byMonthDay, every, count, until, start }: WrittenRepeat): boolean =>
  every >= 1 &&
  every <= MAX_EVERY &&
  byMonthDay.every((day) => day !== 0 && Math.abs(day) <= 31) &&
  byDay.every((day) => Math.abs(Number(day.slice(0, -2))) <= 5) &&
  (count === null || (count >= 1 && count <= MAX_COUNT && until === null)) &&
  (until === null || start === null || start <= until);

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/**
 * Reads the longest repeat that a list of words begins with, such as `every 2 weeks on monday and friday until 31 dec`.
 * @param today YYYY-MM-DD where the person is
 * @returns undefined for none; `words`: how many it took
 */
export function readLeadingRepeat(words: readonly string[], today: string): { repeat: FoundRepeat; words: number } | undefined {
  const head = readHead(words, today);
  if (!head) return undefined;
  if (typeof head.value === 'string') return { repeat: head.value, words: head.words };
  let at = head.words;
  let repeat: WrittenRepeat = {
    unit: 'day',
    every: 1,
    byDay: [],
    byMonthDay: [],
    time: null,
    start: null,
    until: null,
    count: null,
    onSchedule: false,
    ...head.value,
  };
  for (;;) {
    const comma = countBetween(words.slice(at));
    const tail = readTail(words.slice(at + comma), today, repeat);
    if (!tail) break;
    repeat = { ...repeat, ...tail.value };
    at += comma + tail.words;
  }
  repeat = { ...repeat, byDay: unique(repeat.byDay), byMonthDay: unique(repeat.byMonthDay) };
  return { repeat: isPossible(repeat) ? repeat : 'impossible', words: at };
}

/** Folds a text into the words that the readers here take: lower case, a comma is a word of its own. */
const foldRepeat = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(',', ' , ')
    .split(/\s+/u)
    .map((word) => word.replace(/[.;!?]+$/, ''))
    .filter((word) => word !== '');

const MAX_WORDS = 60;

/** Reads a text that is a repeat as a whole; undefined for another text. */
export function readRepeat(text: string, today: string): FoundRepeat | undefined {
  const words = foldRepeat(text);
  const found = words.length > MAX_WORDS ? undefined : readLeadingRepeat(words, today);
  return found?.words === words.length ? found.repeat : undefined;
}

const FREQUENCIES = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' } as const;

/** Returns the rule of iCalendar (RFC 5545) without its end; undefined for one of minutes or hours. */
export function toRule({ unit, every, byDay, byMonthDay }: WrittenRepeat): string | undefined {
  if (unit === 'minute' || unit === 'hour') return undefined;
  return [
    `FREQ=${FREQUENCIES[unit]}`,
    ...(every === 1 ? [] : [`INTERVAL=${every}`]),
    ...(byDay.length > 0 ? [`BYDAY=${byDay.join(',')}`] : []),
    ...(byMonthDay.length > 0 ? [`BYMONTHDAY=${byMonthDay.join(',')}`] : []),
  ].join(';');
}
