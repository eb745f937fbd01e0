/** The five fields of a cron line as ascending numbers. */
export interface Cron {
  minute: number[];
  hour: number[];
  dayOfMonth: number[];
  month: number[];
  /** 0 is Sunday. */
  dayOfWeek: number[];
  /**
   * Both kinds of day are restricted, so either suffices, as in classic cron. A field that starts with a star is not restricted.
   */
  eitherDay: boolean;
}

export type ParsedCron = { ok: true; cron: Cron } | { ok: false; message: string; position: number };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  key: Exclude<keyof Cron, 'eitherDay'>;
  label: string;
  min: number;
  max: number;
  /** Names of the numbers, starting at `min`. */
  names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { key: 'minute', label: 'minute', min: 0, max: 59 },
  { key: 'hour', label: 'hour', min: 0, max: 23 },
  { key: 'dayOfMonth', label: 'day of month', min: 1, max: 31 },
  { key: 'month', label: 'month', min: 1, max: 12, names: MONTHS },
  { key: 'dayOfWeek', label: 'day of week', min: 0, max: 7, names: DAYS }, // 7 is Sunday too
];

class CronSyntaxError extends Error {}

function parseNumber(text: string, { label, min, max, names = [] }: Field): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return min + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new CronSyntaxError(`${label} must be ${min} to ${max}, not "${text}"`);
}

/** Parses one part of a list: a star, a number or a range, and an optional step. */
function parseValues(part: string, field: Field): number[] {
  const [range = '', step, ...rest] = part.split('/');
  if (rest.length > 0 || step === '' || range === '') throw new CronSyntaxError(`${field.label} is invalid: "${part}"`);
  const [from = '', to, ...more] = range.split('-');
  if (more.length > 0) throw new CronSyntaxError(`${field.label} is invalid: "${part}"`);
  const low = range === '*' ? field.min : parseNumber(from, field);
  const high = range === '*' || (to === undefined && step !== undefined) ? field.max : parseNumber(to ?? from, field);
  const by = step === undefined ? 1 : /^\d{1,2}$/.test(step) ? Number(step) : 0;
  if (by < 1) throw new CronSyntaxError(`${field.label}: a step must be at least 1, not "${step}"`);
  if (high < low) throw new CronSyntaxError(`${field.label}: ${from} is greater than ${to}`);
  const values: number[] = [];
  for (let value = low; value <= high; value += by) values.push(value);
  return values;
}

const unique = (numbers: number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b);

/**
 * Parses a cron line of exactly five fields: numbers, names of months and days, lists, ranges, steps; no seconds, no `@daily`.
 * `position` counts characters from 0.
 */
export function parseCron(source: string): ParsedCron {
  const words = [...source.matchAll(/\S+/g)];
  if (words.length !== FIELDS.length)
    return { ok: false, message: `must have five fields, not ${words.length}`, position: words[FIELDS.length]?.index ?? 0 };
  const cron = {} as Cron;
  for (const [i, field] of FIELDS.entries()) {
    const { 0: word, index } = words[i] as RegExpExecArray;
    try {
      const values = word.split(',').flatMap((part) => parseValues(part, field));
      cron[field.key] = unique(field.key === 'dayOfWeek' ? values.map((day) => day % 7) : values);
    } catch (error) {
      if (error instanceof CronSyntaxError) return { ok: false, message: error.message, position: index };
      throw error;
    }
  }
  cron.eitherDay = [words[2], words[4]].every((word) => !word?.[0].startsWith('*'));
  return { ok: true, cron };
}
