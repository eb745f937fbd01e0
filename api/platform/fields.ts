import { z } from 'zod';
import { zoneNamed } from './time-zones.js';

/** An id that no row has. Malformed ids are mapped to it, so both return 404 (docs/adr/0002-malformed-ids-are-not-found.md). */
export const NO_ID = '00000000-0000-0000-0000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TASK_ID = /^[A-Za-z0-9_][A-Za-z0-9._:@-]{0,127}$/;
const RESERVED_TASK_IDS = ['my', 'bulk', 'relations', 'cycle-time'];

/** A generated id: a lower-case UUID. Anything else is treated as an unknown id. */
export const Id = z.string().overwrite((value) => (UUID.test(value) ? value : NO_ID));

/** The id of a task, possibly chosen by a client. A malformed one is treated as an unknown id. */
export const TaskId = z.string().overwrite((value) => (TASK_ID.test(value) ? value : NO_ID));

/** A task id chosen by a client; malformed or reserved ids return 422. */
export const NewTaskId = z
  .string()
  .regex(TASK_ID, 'must begin with a letter, digit or _, and hold only letters, digits and . _ : @ - (at most 128 characters)')
  .refine((value) => !RESERVED_TASK_IDS.includes(value), 'is reserved');

/** Returns text that PostgreSQL can store: NUL and half characters become U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Text that PostgreSQL and JSON can store: no NUL, no lone surrogates. Lengths count code points. */
export const Text = z
  .string()
  .refine((value) => !value.includes('\0') && value.isWellFormed(), 'contains characters that cannot be stored');

/** Forbidden in an address: control characters, blanks, and characters that could make a mail server see several addresses. */
const NOT_IN_ADDRESS = String.raw`\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff@,;:<>()\[\]\\"`;
/**
 * Matches one email address by its form. Spells out every character, as do all patterns in the API document: the meaning of `\s`,
 * `\w` and `\d` depends on the engine.
 */
export const MAIL_ADDRESS = new RegExp(`^[^${NOT_IN_ADDRESS}]+@[^${NOT_IN_ADDRESS}]+\\.[^${NOT_IN_ADDRESS}]+$`);

/** What `trim` removes, spelled out for the API document. */
const BLANKS = String.raw`\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;
/** Text of 1 to `max` characters after blanks at its ends are removed. */
export const TrimmedText = (max: number) =>
  Text.trim()
    .min(1)
    .max(max)
    .meta({ pattern: `[^${BLANKS}]` });

/** Controls, separators and format characters, spelled out for the API document; those beyond U+FFFF need a flag that not every engine has. */
const INVISIBLE = String.raw`\x00-\x20\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff\ufff9-\ufffb`;
/** A name or title: trimmed, 1 to `max` characters, at least one visible. */
export const Title = (max: number) =>
  Text.trim()
    .min(1)
    .max(max)
    .refine((value) => !/^[\p{Cf}\p{Z}\p{Cc}]*$/u.test(value) || value === '', 'must contain a visible character')
    .meta({ pattern: `[^${INVISIBLE}]` });

/** Integer query parameter of at least `min`; a larger one is clamped to `max`. */
export const ClampedInt = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be a whole number, ${min} or more`)
    .transform((digits) => Math.min(Number(digits), max))
    .pipe(z.number().min(min))
    .default(fallback)
    .meta({ override: { type: 'integer', minimum: min, default: fallback, description: `More than ${max} counts as ${max}` } });

/** The same without a default. */
export const OptionalInt = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be a whole number, ${min} or more`)
    .transform((digits) => Math.min(Number(digits), max))
    .pipe(z.number().min(min))
    .optional()
    .meta({ override: { type: 'integer', minimum: min, description: `More than ${max} counts as ${max}` } });

/** Integer query parameter; out of range returns 422. */
export const StrictInt = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'must be a whole number of at most 9 digits')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback)
    .meta({ override: { type: 'integer', minimum: min, maximum: max, default: fallback } });

/** Boolean query parameter. */
export const Flag = z
  .string()
  .refine((value) => ['true', 'false', '1', '0'].includes(value), 'must be true, false, 1 or 0')
  .transform((value) => value === 'true' || value === '1')
  .default(false)
  .meta({ override: { type: 'boolean', default: false } });

/** Input formats that `normaliseDate` accepts, for the API document. */
export const DATE_FORMATS = {
  anyOf: [
    { type: 'string' as const, format: 'date' },
    { type: 'string' as const, format: 'date-time' },
  ],
};

/** A date-time with its time zone. */
export const Moment = Text.pipe(z.iso.datetime({ offset: true, error: 'must be an ISO 8601 date-time with a time zone' })).meta({
  override: { type: 'string', format: 'date-time' },
});

/** A time zone by its IANA name in any case; normalized to the spelling of the tz database. */
export const TimeZone = z
  .string()
  .max(64)
  .overwrite((name) => zoneNamed(name) ?? name)
  .refine((name) => zoneNamed(name) !== undefined, 'must be an IANA time zone, such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' });

/** A timestamp as returned by the API: `2026-11-20T17:51:02.123Z`. */
export const Timestamp = z.string().meta({ format: 'date-time', example: '2026-11-20T17:51:02.123Z' });
