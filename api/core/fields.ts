import { z } from 'zod';
import { zoneNamed } from './time-zones.js';

/** An id no row has: what a malformed id becomes, so that malformed and unknown are one case everywhere (house rules). */
export const NO_ID = '00000000-0000-0000-0000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TASK_ID = /^[A-Za-z0-9_][A-Za-z0-9._:@-]{0,127}$/;
const RESERVED_TASK_IDS = ['my', 'bulk', 'relations', 'cycle-time'];

/** How refusals are worded where the library's own words help nobody: a field that is missing is not "received undefined". */
export const ZOD_MESSAGES = {
  error: ({ code, input }: { code?: string; input?: unknown }) =>
    input === undefined && (code === 'invalid_type' || code === 'invalid_value') ? 'Required' : undefined,
};

/** An id that we made: a UUID in lower case; anything else stands for an id that does not exist. */
export const Id = z.string().overwrite((value) => (UUID.test(value) ? value : NO_ID));

/** The id of a task, which a client may have chosen; anything malformed stands for an id that does not exist. */
export const TaskId = z.string().overwrite((value) => (TASK_ID.test(value) ? value : NO_ID));

/** A task id as a client may choose it (house rules); malformed or reserved is a 422 here. */
export const NewTaskId = z
  .string()
  .regex(TASK_ID, 'A letter, digit or _ first; then letters, digits and . _ : @ - only; at most 128 characters')
  .refine((value) => !RESERVED_TASK_IDS.includes(value), 'This id is reserved');

/** Text that PostgreSQL and JSON can both hold: no NUL, no half of a surrogate pair. Lengths count code points. */
export const Text = z
  .string()
  .refine((value) => !value.includes('\0') && value.isWellFormed(), 'Contains characters that cannot be stored');

/** No part of an address: control characters, blanks, and what a mail server could take for more than one address. */
const NOT_IN_ADDRESS = String.raw`\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff@,;:<>()\[\]\\"`;
/**
 * One address that a mail could be sent to, as far as its form says. Every character is named, as in all patterns that the document
 * shows: what `\s`, `\w` and `\d` stand for depends on who reads them.
 */
export const MAIL_ADDRESS = new RegExp(`^[^${NOT_IN_ADDRESS}]+@[^${NOT_IN_ADDRESS}]+\\.[^${NOT_IN_ADDRESS}]+$`);

/** A name or title: trimmed, 1 to `max` characters, and something to see in it. */
export const Title = (max: number) =>
  Text.trim()
    .min(1)
    .max(max)
    .refine((value) => !/^[\p{Cf}\p{Z}\p{Cc}]*$/u.test(value) || value === '', 'Must contain a visible character');

/** Whole number in a query string: digits only, once, `min` or more; a larger one is clamped to `max`. */
export const ClampedInt = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, 'Must be a whole number, 0 or more')
    .transform((digits) => Math.min(Number(digits), max))
    .pipe(z.number().min(min))
    .default(fallback)
    .meta({ override: { type: 'integer', minimum: min, default: fallback, description: `More than ${max} counts as ${max}` } });

/** Whole number in a query string where out of range is a 422 (decisions, L, last lines). */
export const StrictInt = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'Must be a whole number of at most 9 digits')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback)
    .meta({ override: { type: 'integer', minimum: min, maximum: max, default: fallback } });

/** A yes or no in a query string. */
export const Flag = z
  .string()
  .refine((value) => ['true', 'false', '1', '0'].includes(value), 'Must be true, false, 1 or 0')
  .transform((value) => value === 'true' || value === '1')
  .default(false)
  .meta({ override: { type: 'boolean', default: false } });

/** How the document describes a date that a caller gives: what `normaliseDate` takes. */
export const DATE_FORMATS = {
  anyOf: [
    { type: 'string' as const, format: 'date' },
    { type: 'string' as const, format: 'date-time' },
  ],
};

/** A time zone by its IANA name, in whatever case; what comes out is spelled as the tz database does. */
export const TimeZone = z
  .string()
  .max(64)
  .overwrite((name) => zoneNamed(name) ?? name)
  .refine((name) => zoneNamed(name) !== undefined, 'Must be an IANA time zone, such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' });

/** A timestamp as it leaves the service: `2026-11-20T17:51:02.123Z`. */
export const Timestamp = z.string().meta({ format: 'date-time', example: '2026-11-20T17:51:02.123Z' });
