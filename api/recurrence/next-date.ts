import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { parseRule, type Recurrence, type Rule } from './rules.js';

/**
 * The calendar of a recurrence. Dates are worked out as days of the calendar, without hours and zones; the time of day is put
 * on at the end, in the zone of the series: 09:00 in Berlin stays 09:00, and an hour that a night leaves out becomes the next.
 * Due dates are texts, as tasks hold them: a day, or a moment in UTC.
 */

/** A due date as the clock on the wall shows it. */
interface Wall {
  date: Temporal.PlainDate;
  /** Null for a due date that is a day. */
  time: Temporal.PlainTime | null;
}

export interface Calendar {
  recurrence: Recurrence;
  /** What the rule counts from, a due date: which week of two, which day of the month. */
  anchor: string;
}

const isDay = (due: string): boolean => due.length === 10;

function wallOf(due: string, timezone: string): Wall {
  if (isDay(due)) return { date: Temporal.PlainDate.from(due), time: null };
  const local = Temporal.Instant.from(due).toZonedDateTimeISO(timezone).toPlainDateTime();
  return { date: local.toPlainDate(), time: local.toPlainTime() };
}

function dueOf({ date, time }: Wall, timezone: string): string {
  if (time === null) return date.toString();
  return new Date(date.toPlainDateTime(time).toZonedDateTime(timezone).epochMilliseconds).toISOString();
}

/** The day on which a moment falls in a zone. */
export const dayIn = (timezone: string, moment: Date): string => wallOf(moment.toISOString(), timezone).date.toString();

/** When a due date's time has come: its moment, or midnight where its day begins. Milliseconds since 1970. */
export function momentOf(due: string, timezone: string): number {
  if (!isDay(due)) return Date.parse(due);
  return Temporal.PlainDate.from(due).toZonedDateTime(timezone).epochMilliseconds;
}

/**
 * The days of the month that the rule means. A month that lacks one has its last day instead (RFC 7529, SKIP=BACKWARD): the
 * 31st is the last day of every month, and the 29th and 30th are so in February.
 */
function monthDays(days: number[]): { everywhere: number[]; lastOfFebruary: boolean } {
  const everywhere = [...new Set(days.map((day) => (day === 31 ? -1 : day)))];
  return { everywhere, lastOfFebruary: days.some((day) => day === 29 || day === 30) };
}

/** The library's rules which together give the dates: it knows no SKIP for days that a rule names. */
function libraryRules(rule: Rule, anchor: Temporal.PlainDate): RRuleTemporal[] {
  const implied = rule.byDay.length === 0 && rule.byMonthDay.length === 0;
  const named = implied && (rule.freq === 'MONTHLY' || rule.freq === 'YEARLY') ? [anchor.day] : rule.byMonthDay;
  const month = implied && rule.freq === 'YEARLY' ? anchor.month : null;
  const make = (byMonth: number | null, byMonthDay: number[]): RRuleTemporal =>
    new RRuleTemporal({
      freq: rule.freq,
      interval: rule.interval,
      dtstart: anchor.toZonedDateTime('UTC'),
      ...(rule.byDay.length > 0 ? { byDay: rule.byDay } : {}),
      ...(byMonthDay.length > 0 ? { byMonthDay } : {}),
      ...(byMonth === null ? {} : { byMonth: [byMonth] }),
    });
  const { everywhere, lastOfFebruary } = monthDays(named);
  const rules = [make(month, everywhere)];
  if (lastOfFebruary && (month === null || month === 2)) rules.push(make(2, [-1]));
  return rules;
}

/** The library gives up loudly on a rule that never comes true: for us it has no further date. */
function dayOrNone(search: () => { epochMilliseconds: number } | null): string | null {
  try {
    const found = search();
    const day = found && new Date(found.epochMilliseconds).toISOString().split('T')[0];
    return day && isDay(day) ? day : null; // beyond the year 9999 a day takes more letters
  } catch (error) {
    if (error instanceof Error && /^Maximum (iterations|candidate)/i.test(error.message)) return null;
    throw error;
  }
}

function rulesOf({ recurrence, anchor }: Calendar): RRuleTemporal[] {
  const rule = parseRule(recurrence.rule);
  if (typeof rule === 'string') throw new Error(`A stored rule cannot be read: ${rule}`);
  return libraryRules(rule, wallOf(anchor, recurrence.timezone).date);
}

/** A day of the rule as a due date, with the anchor's time of day. */
const dueOn = (day: string, { recurrence: { timezone }, anchor }: Calendar): string =>
  dueOf({ date: Temporal.PlainDate.from(day), time: wallOf(anchor, timezone).time }, timezone);

/** False for a due date after the series' last. */
function isWithin(due: string, { until, timezone }: Recurrence): boolean {
  if (until === null) return true;
  if (isDay(until)) return wallOf(due, timezone).date.toString() <= until;
  return momentOf(due, timezone) <= Date.parse(until);
}

/** Without a date: the rule has none any more, or the next is after the series' last. */
export type NextDue = { due: string } | { none: 'no_date' | 'until' };

/** The first date of the rule on a later day than `after`, a due date; a day is a day in the series' zone. */
export function nextDue(calendar: Calendar, after: string): NextDue {
  const { recurrence } = calendar;
  const from = new Date(`${wallOf(after, recurrence.timezone).date.toString()}T00:00:00Z`);
  const [day] = rulesOf(calendar)
    .map((rule) => dayOrNone(() => rule.next(from, false)))
    .filter((found) => found !== null)
    .sort();
  if (day === undefined) return { none: 'no_date' };
  const due = dueOn(day, calendar);
  if (!/^\d{4}-/.test(due)) return { none: 'no_date' };
  return isWithin(due, recurrence) ? { due } : { none: 'until' };
}

/**
 * As `nextDue`, but dates that went by unnoticed are made up for by the latest of them: what a series that keeps to its
 * schedule does after an outage, instead of making a heap of tasks.
 */
export function nextOnSchedule(calendar: Calendar, after: string, now: Date): NextDue {
  const next = nextDue(calendar, after);
  if ('none' in next || momentOf(next.due, calendar.recurrence.timezone) >= now.getTime()) return next;
  const { timezone } = calendar.recurrence;
  const rules = rulesOf(calendar);
  let before = new Date(`${Temporal.PlainDate.from(dayIn(timezone, now)).add({ days: 1 }).toString()}T00:00:00Z`);
  for (;;) {
    const day = rules
      .map((rule) => dayOrNone(() => rule.previous(before, false)))
      .filter((found) => found !== null)
      .sort()
      .at(-1);
    if (day === undefined || day <= wallOf(next.due, timezone).date.toString()) return next;
    const due = dueOn(day, calendar);
    if (momentOf(due, timezone) <= now.getTime() && isWithin(due, calendar.recurrence)) return { due };
    before = new Date(`${day}T00:00:00Z`);
  }
}

/** `due` moved by as many days as lie between `from` and `to`, at the same time of day; null where one of them is missing. */
export function shiftDue(due: string | null, from: string | null, to: string, timezone: string): string | null {
  if (due === null || from === null) return null;
  const days = wallOf(from, timezone).date.until(wallOf(to, timezone).date, { largestUnit: 'days' }).days;
  const { date, time } = wallOf(due, timezone);
  const moved = date.add({ days });
  return moved.year > 9999 ? null : dueOf({ date: moved, time }, timezone);
}
