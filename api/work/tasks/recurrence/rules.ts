/** Frequency of a rule. */
type Frequency = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY';

/** Maximum tasks of a recurring task, including itself: each occurrence creates as many (docs/decisions/work.md#recurring-trees). */
export const MAX_TREE = 1_000;

export const MODES = ['on_complete', 'on_schedule'] as const;

/** A task's recurrence, as stored and shown. `until` and `count` hold the end, whether the rule or a separate field set it. */
export interface Recurrence {
  rule: string;
  mode: (typeof MODES)[number];
  timezone: string;
  /** Last date, inclusive; or last moment, in UTC. */
  until: string | null;
  /** Total occurrences, including the first task. */
  count: number | null;
}

/** A parsed rule. */
export interface Rule {
  freq: Frequency;
  interval: number;
  /** `MO`; with MONTHLY or YEARLY also `2MO` or `-1FR`. */
  byDay: string[];
  byMonthDay: number[];
  count: number | null;
  /** `2026-12-31` or `2026-12-31T21:00:00Z`. */
  until: string | null;
}

type Part = 'FREQ' | 'INTERVAL' | 'BYDAY' | 'BYMONTHDAY' | 'COUNT' | 'UNTIL';

const SHAPES: Record<Part, { shape: RegExp; words: string }> = {
  FREQ: { shape: /^(DAILY|WEEKLY|MONTHLY|YEARLY)$/, words: 'FREQ is DAILY, WEEKLY, MONTHLY or YEARLY' },
  INTERVAL: { shape: /^[1-9]\d?$/, words: 'INTERVAL is 1 to 99' },
  BYDAY: {
    shape: /^([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-9]\d?)?(MO|TU|WE|TH|FR|SA|SU))*$/,
    words: 'BYDAY lists days such as MO,WE or -1FR',
  },
  BYMONTHDAY: {
    shape: /^[+-]?([1-9]|[12]\d|3[01])(,[+-]?([1-9]|[12]\d|3[01]))*$/,
    words: 'BYMONTHDAY lists days from 1 to 31, or from -31 to -1',
  },
  COUNT: { shape: /^[1-9]\d{0,5}$/, words: 'COUNT is a whole number from 1 to 999999' },
  UNTIL: { shape: /^\d{8}(T\d{6}Z)?$/, words: 'UNTIL is a date, or a date-time in UTC' },
};

/** Normalizes a rule to upper case, without blanks and the property name: `rrule:freq=daily` becomes `FREQ=DAILY`. */
export const normaliseRule = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '');

const toIso = (until: string): string =>
  until.replace(/^(\d{4})(\d\d)(\d\d)/, '$1-$2-$3').replace(/T(\d\d)(\d\d)(\d\d)Z$/, 'T$1:$2:$3Z');

function parseParts(text: string): Map<Part, string> | string {
  const parts = new Map<Part, string>();
  for (const part of text.split(';')) {
    const [name = '', value = '', ...rest] = part.split('=');
    if (!(name in SHAPES) || rest.length > 0) return `${name.slice(0, 20) || 'An empty part'} is not supported`;
    const { shape, words } = SHAPES[name as Part];
    if (!shape.test(value)) return words;
    if (parts.has(name as Part)) return `${name} is set twice`;
    parts.set(name as Part, value);
  }
  return parts;
}

/** Returns a violation of RFC 5545 beyond the syntax of each part, or null. */
function clashIn(freq: Frequency, byDay: string[], byMonthDay: number[], ends: number): string | null {
  const ordinals = byDay.map((day) => Number(day.slice(0, -2))).filter((n) => n !== 0);
  const most = freq === 'MONTHLY' ? 5 : 52;
  if (ordinals.length > 0 && freq !== 'MONTHLY' && freq !== 'YEARLY') return `BYDAY cannot have ordinals with FREQ=${freq}`;
  if (ordinals.some((n) => Math.abs(n) > most)) return `BYDAY ordinals are limited to ${most} with FREQ=${freq}`;
  if (ordinals.length > 0 && byMonthDay.length > 0) return 'BYDAY cannot have ordinals together with BYMONTHDAY';
  if (byMonthDay.length > 0 && freq === 'WEEKLY') return 'BYMONTHDAY cannot be combined with FREQ=WEEKLY';
  return ends > 1 ? 'COUNT and UNTIL exclude each other' : null;
}

/** Parses a normalized rule; returns a string with the error if it is invalid (RFC 5545, section 3.3.10). */
export function parseRule(text: string): Rule | string {
  const parts = parseParts(text);
  if (typeof parts === 'string') return parts;
  const freq = parts.get('FREQ') as Frequency | undefined;
  if (!freq) return 'FREQ is required';
  const list = (name: Part): string[] => [...new Set((parts.get(name)?.split(',') ?? []).map((item) => item.replace('+', '')))];
  const byDay = list('BYDAY');
  const byMonthDay = list('BYMONTHDAY').map(Number);
  const count = parts.get('COUNT');
  const until = parts.get('UNTIL');
  const clash = clashIn(freq, byDay, byMonthDay, Number(count !== undefined) + Number(until !== undefined));
  if (clash) return clash;
  return {
    freq,
    interval: Number(parts.get('INTERVAL') ?? 1),
    byDay,
    byMonthDay,
    count: count === undefined ? null : Number(count),
    until: until === undefined ? null : toIso(until),
  };
}

/** Why a series ended, for the activity feed and the Temporal UI. */
export const END_WORDS = {
  cancelled: 'the recurrence was taken away',
  count: 'that was the last of its occurrences',
  until: 'the next date is after its last one',
  no_date: 'its rule has no further date',
  purged: 'its latest occurrence was purged',
} as const;
export type EndReason = keyof typeof END_WORDS;
