import { z } from 'zod';
import { invalid } from './errors.js';

const DAY = z.iso.date();
const MOMENT = z.iso.datetime({ offset: true, local: true });
const MAX_OFFSET_MINUTES = 14 * 60;

const offsetMinutes = (text: string): number => {
  const [, hours = '0', minutes = '0'] = /[+-](\d\d):?(\d\d)$/.exec(text.slice(10)) ?? [];
  return Number(hours) * 60 + Number(minutes);
};

/**
 * Normalizes a date (`2026-11-20`), or a date-time to UTC (`2026-11-20T17:51:02.123Z`; no offset means UTC). Returns null for
 * anything else: impossible days, years outside 1 to 9999, offsets beyond ±14:00.
 */
export function normaliseDate(text: string): string | null {
  if (DAY.safeParse(text).success) return text.startsWith('0000') ? null : text;
  if (!MOMENT.safeParse(text).success || offsetMinutes(text) > MAX_OFFSET_MINUTES) return null;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10)) ? text : `${text}Z`;
  const moment = new Date(zoned);
  if (Number.isNaN(moment.getTime())) return null;
  const utc = moment.toISOString();
  return /^\d{4}-/.test(utc) && !utc.startsWith('0000') ? utc : null;
}

type Optional = string | null | undefined;

/**
 * Normalizes the date fields of a body; null and undefined pass.
 * @throws INVALID_REQUEST naming every malformed field: 400, where other fields give 422 (docs/decisions/platform.md#status-400-or-422)
 */
function dateFields<T extends Record<string, Optional>>(fields: T): T {
  const read = Object.entries(fields).map(([name, value]) => [name, value == null ? value : normaliseDate(value)] as const);
  const bad = read.filter(([name, value]) => value === null && fields[name] !== null).map(([name]) => name);
  if (bad.length === 0) return Object.fromEntries(read) as T;
  throw invalid(bad.map((name) => `${name} is not a valid date`).join('; '), {
    detail: 'Send an ISO 8601 date (2026-11-20) or date-time (2026-11-20T17:51:02Z)',
  });
}

/** Normalizes one date field of a body; null and undefined pass. @throws INVALID_REQUEST */
export const dateField = <T extends Optional>(field: string, value: T): T => dateFields({ [field]: value })[field] as T;

/** Like `dateFields`, for fields that hold a day: a date-time becomes its day in UTC. @throws INVALID_REQUEST */
export function dayFields<T extends Record<string, Optional>>(fields: T): T {
  const days = Object.entries(dateFields(fields)).map(([name, value]) => [name, value?.slice(0, 10) ?? value]);
  return Object.fromEntries(days) as T;
}
