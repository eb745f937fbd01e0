import { readWeekday } from './written-days.js';

/** The parts of a repeat that people write, each read at the beginning of a list of words in lower case. Pure. */

/** Days of the week as iCalendar writes them, from Monday. */
export const WEEKDAY_CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

export type Words = readonly string[];
/** A value, and how many words it took. */
export interface Read<T> {
  value: T;
  words: number;
}
export type Reader<T> = (words: Words) => Read<T> | undefined;

const NTH = ['first', 'second', 'third', 'fourth', 'fifth'];
/** `1st`, `first`, `last`, `2nd to last`. */
export const readNth: Reader<number> = ([word = '', to, last]) => {
  if (word === 'last') return { value: -1, words: 1 };
  const named = NTH.indexOf(word) + 1;
  const count = named || Number(/^(\d{1,2})(?:st|nd|rd|th)$/.exec(word)?.[1] ?? Number.NaN);
  if (Number.isNaN(count)) return undefined;
  return to === 'to' && last === 'last' ? { value: -count, words: 3 } : { value: count, words: 1 };
};

const skipThe = (words: Words): number => (words[0] === 'the' ? 1 : 0);

/** `monday`, `mondays`. */
const readDayName: Reader<string> = ([word = '']) => {
  const day = Math.max(readWeekday(word), readWeekday(word.replace(/s$/, '')));
  return day < 0 ? undefined : { value: WEEKDAY_CODES[day] as string, words: 1 };
};
/** `the first monday`. */
export const readNthDay: Reader<string> = (words) => {
  const the = skipThe(words);
  const nth = readNth(words.slice(the));
  const day = nth && readDayName(words.slice(the + nth.words));
  return nth && day && { value: `${nth.value}${day.value}`, words: the + nth.words + day.words };
};
/** `the 1st`, `the last day`. */
const readMonthDay: Reader<number> = (words) => {
  const the = skipThe(words);
  const nth = readNth(words.slice(the));
  if (!nth) return undefined;
  const at = the + nth.words;
  return { value: nth.value, words: at + (words[at] === 'day' ? 1 : 0) };
};

/** `,`, `and`, or both. */
export const countBetween = ([first = '', second = '']: Words): number => {
  if (first === ',' && second === 'and') return 2;
  return first === ',' || first === 'and' || first === '&' ? 1 : 0;
};
/** Reads one or several, with commas or `and` between them. */
const several =
  <T>(read: Reader<T>): Reader<T[]> =>
  (words) => {
    const first = read(words);
    if (!first) return undefined;
    const found = { value: [first.value], words: first.words };
    for (;;) {
      const between = countBetween(words.slice(found.words));
      const next = read(words.slice(found.words + between));
      if (!next) return found;
      found.value.push(next.value);
      found.words += between + next.words;
    }
  };
export const readDayNames = several(readDayName);
export const readNthDays = several(readNthDay);
export const readMonthDays = several(readMonthDay);

/** `of the month`, `of every month`; 0 words for none. */
export const ofMonth = ([of, which = '', month]: Words): number =>
  of === 'of' && ['the', 'every', 'each', 'a'].includes(which) && month === 'month' ? 3 : 0;

/** `9`, `9:00`, `9.30`, `9am`, `9 pm`, `noon`. */
const readClock: Reader<string> = ([word = '', next]) => {
  if (word === 'noon') return { value: '12:00', words: 1 };
  if (word === 'midnight') return { value: '00:00', words: 1 };
  const [, hour, minute = '00', half] = /^(\d{1,2})(?:[:.](\d\d))?(am|pm)?$/.exec(word) ?? [];
  if (hour === undefined) return undefined;
  const beside = half === undefined && (next === 'am' || next === 'pm') ? next : undefined;
  const side = half ?? beside;
  const isHour = side === undefined ? Number(hour) <= 23 : Number(hour) >= 1 && Number(hour) <= 12;
  if (!isHour || Number(minute) > 59) return undefined;
  const hours = side === undefined ? Number(hour) : (Number(hour) % 12) + (side === 'pm' ? 12 : 0);
  return { value: `${String(hours).padStart(2, '0')}:${minute}`, words: beside === undefined ? 1 : 2 };
};
/** Reads a time of day at the beginning of a list of words, such as `at 9`, `9:00`, `at 5 pm`; `value` is HH:MM. */
export const readTime: Reader<string> = (words) => {
  const at = words[0] === 'at' ? 1 : 0;
  if (at === 0 && !/^\d{1,2}(:\d\d|(:\d\d)?[ap]m)$/.test(words[0] ?? '')) return undefined;
  const found = readClock(words.slice(at));
  return found && { value: found.value, words: found.words + at };
};
