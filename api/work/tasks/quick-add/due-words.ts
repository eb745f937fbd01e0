import { addTo } from '../../../platform/calendar-days.js';

/** Reads days that people write, such as `friday`, `next week` or `5 dec`. Pure: the caller says which day is today. */

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
] as const;
const UNITS = {
  day: { days: 1, months: 0 },
  week: { days: 7, months: 0 },
  month: { days: 0, months: 1 },
  year: { days: 0, months: 12 },
} as const;
type Unit = keyof typeof UNITS;
const SHORTEST_NAME = 3;
/** An amount of more digits is no distance that anyone plans. */
const AMOUNT = /^\d{1,3}$/;

const toDate = (day: string): Date => new Date(`${day}T00:00:00Z`);
const toDay = (date: Date): string => date.toISOString().slice(0, 10);
const addDays = (day: string, days: number): string => addTo(day, { days });

/** Returns the place of a name, or of its beginning of three letters or more; -1 for another word. */
const findName = (names: readonly string[], word = ''): number =>
  word.length < SHORTEST_NAME ? -1 : names.findIndex((name) => name.startsWith(word));

const isUnit = (word: string): word is Unit => word in UNITS;

const addUnits = (today: string, amount: number, unit: Unit): string =>
  addTo(today, { days: amount * UNITS[unit].days, months: amount * UNITS[unit].months });

/** Returns how many days lie ahead of the next such weekday, 1 to 7. */
const daysUntil = (today: string, weekday: number): number => ((weekday - toDate(today).getUTCDay() + 6) % 7) + 1;

/** Returns a day of a month, of this year or, if that is past, of the next one; undefined if there is none. */
function dayOfMonth(today: string, dayText: string, month: number, yearText: string | undefined): string | undefined {
  const number = Number(dayText);
  const find = (year: number): string | undefined => {
    const date = new Date(Date.UTC(year, month, number));
    return date.getUTCMonth() === month && date.getUTCDate() === number ? toDay(date) : undefined;
  };
  if (yearText !== undefined) return find(Number(yearText));
  const thisYear = Number(today.slice(0, 4));
  const day = find(thisYear);
  return day !== undefined && day >= today ? day : find(thisYear + 1);
}

/** A day, and how many words say it. */
export interface DueWords {
  day: string;
  words: number;
}

const NUMBER = /^(\d{1,2})(?:st|nd|rd|th)?$/;
const YEAR = /^[12]\d{3}$/;

/** Reads `5 dec`, `dec 5`, each with or without a year. */
function readMonthDay(today: string, words: readonly string[]): DueWords | undefined {
  const [first = '', second = '', third = ''] = words;
  const isDayFirst = NUMBER.test(first);
  const [dayText, monthText] = isDayFirst ? [first, second] : [second, first];
  const [, number] = NUMBER.exec(dayText) ?? [];
  const month = findName(MONTHS, monthText);
  if (number === undefined || month === -1) return undefined;
  const year = YEAR.test(third) ? third : undefined;
  const day = dayOfMonth(today, number, month, year);
  return day === undefined ? undefined : { day, words: year === undefined ? 2 : 3 };
}

/** Reads `in 3 days`. */
function readDistance(today: string, [first, amount = '', unitText = '']: readonly string[]): DueWords | undefined {
  const unit = unitText.replace(/s$/, '');
  if (first !== 'in' || !isUnit(unit)) return undefined;
  if (amount === 'a' || amount === 'an' || amount === 'one') return { day: addUnits(today, 1, unit), words: 3 };
  return AMOUNT.test(amount) ? { day: addUnits(today, Number(amount), unit), words: 3 } : undefined;
}

/** Reads `next week` (its Monday), `next month` (its first day) and `next friday` (that of the week after the coming one). */
function readNext(today: string, [first, second = '']: readonly string[]): DueWords | undefined {
  if (first !== 'next') return undefined;
  if (second === 'week') return { day: addDays(today, daysUntil(today, 1)), words: 2 };
  if (second === 'month') return { day: `${addTo(today, { months: 1 }).slice(0, 7)}-01`, words: 2 };
  const weekday = findName(DAYS, second);
  if (weekday === -1) return undefined;
  const monday = daysUntil(today, 1);
  return { day: addDays(today, monday + ((weekday + 6) % 7)), words: 2 };
}

/** Reads one word: `today`, `tomorrow`, a weekday (the next one, never today) or an ISO date. */
function readWord(today: string, [word = '']: readonly string[]): DueWords | undefined {
  if (word === 'today') return { day: today, words: 1 };
  if (word === 'tomorrow' || word === 'tmr') return { day: addDays(today, 1), words: 1 };
  const weekday = findName(DAYS, word);
  if (weekday !== -1) return { day: addDays(today, daysUntil(today, weekday)), words: 1 };
  const isDate = /^[1-9]\d{3}-\d\d-\d\d$/.test(word) && !Number.isNaN(Date.parse(word)) && toDay(toDate(word)) === word;
  return isDate ? { day: word, words: 1 } : undefined;
}

/**
 * Reads the day at the beginning of a list of words, in lower case. `today`: `2026-11-26`, in the user's time zone. Undefined if the words do not
 * begin with a day.
 */
export const readDueWords = (today: string, words: readonly string[]): DueWords | undefined =>
  readWord(today, words) ?? readDistance(today, words) ?? readNext(today, words) ?? readMonthDay(today, words);
