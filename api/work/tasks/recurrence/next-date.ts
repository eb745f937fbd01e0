import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { parseRule, type Recurrence, type Rule } from './rules.js';

/**
 * Calendar of a recurrence. Dates are computed as calendar days; the time of day is added last, in the series' zone. So 09:00 in
 * Berlin stays 09:00, and a skipped local time moves on by an hour. Due dates are texts, as in tasks: a day, or a moment in UTC.
 */

/** A due date in local time. */
interface Wall {
  date: Temporal.PlainDate;
  /** Null for a due date without time. */
  time: Temporal.PlainTime | null;
}

export interface Calendar {
  recurrence: Recurrence;
  /** Due date from which the rule counts: which week of two, which day of the month. */
  anchor: string;
}

const isDay = (due: string): boolean => due.length === 10;

function toWall(due: string, timezone: string): Wall {
  if (isDay(due)) return { date: Temporal.PlainDate.from(due), time: null };
  const local = Temporal.Instant.from(due).toZonedDateTimeISO(timezone).toPlainDateTime();
  return { date: local.toPlainDate(), time: local.toPlainTime() };
}

function toDueText({ date, time }: Wall, timezone: string): string {
  if (time === null) return date.toString();
  return new Date(date.toPlainDateTime(time).toZonedDateTime(timezone).epochMilliseconds).toISOString();
}

/** Returns the day of a moment in a zone. */
export const dayIn = (timezone: string, moment: Date): string => toWall(moment.toISOString(), timezone).date.toString();

/** Returns the moment of a due date, or the start of its day, in milliseconds since 1970. */
export function toMoment(due: string, timezone: string): number {
  if (!isDay(due)) return Date.parse(due);
  return Temporal.PlainDate.from(due).toZonedDateTime(timezone).epochMilliseconds;
}

/**
 * Returns the rule's days of the month. A month without such a day uses its last one (RFC 7529, SKIP=BACKWARD): the 31st is the
 * last day of every month, and the 29th and 30th are in February (docs/decisions/work.md#missing-days-of-a-month).
 */
function monthDays(days: number[]): { everywhere: number[]; lastOfFebruary: boolean } {
  const everywhere = [...new Set(days.map((day) => (day === 31 ? -1 : day)))];
  return { everywhere, lastOfFebruary: days.some((day) => day === 29 || day === 30) };
}

/** Returns library rules whose union gives the dates: the library has no SKIP for explicit days. */
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

/** Returns null if the library gives up on a rule without further dates, which throws. */
function dayOrNone(search: () => { epochMilliseconds: number } | null): string | null {
  try {
    const found = search();
    const day = found && new Date(found.epochMilliseconds).toISOString().split('T')[0];
    return day && isDay(day) ? day : null; // after the year 9999 a day has more characters
  } catch (error) {
    if (error instanceof Error && /^Maximum (iterations|candidate)/i.test(error.message)) return null;
    throw error;
  }
}

function buildRules({ recurrence, anchor }: Calendar): RRuleTemporal[] {
  const rule = parseRule(recurrence.rule);
  if (typeof rule === 'string') throw new Error(`A stored rule cannot be read: ${rule}`);
  return libraryRules(rule, toWall(anchor, recurrence.timezone).date);
}

/** Returns a day of the rule as a due date, with the anchor's time of day. */
const dueOn = (day: string, { recurrence: { timezone }, anchor }: Calendar): string =>
  toDueText({ date: Temporal.PlainDate.from(day), time: toWall(anchor, timezone).time }, timezone);

/** Returns false for a due date after the end of the series. */
function isWithin(due: string, { until, timezone }: Recurrence): boolean {
  if (until === null) return true;
  if (isDay(until)) return toWall(due, timezone).date.toString() <= until;
  return toMoment(due, timezone) <= Date.parse(until);
}

/** `none`: the rule has no further date, or the next one is after the end of the series. */
export type NextDue = { due: string } | { none: 'no_date' | 'until' };

/** Returns the rule's first date on a later day than `after`, a due date; days are in the series' zone. */
export function nextDue(calendar: Calendar, after: string): NextDue {
  const { recurrence } = calendar;
  const from = new Date(`${toWall(after, recurrence.timezone).date.toString()}T00:00:00Z`);
  const [day] = buildRules(calendar)
    .map((rule) => dayOrNone(() => rule.next(from, false)))
    .filter((found) => found !== null)
    .sort();
  if (day === undefined) return { none: 'no_date' };
  const due = dueOn(day, calendar);
  if (!/^\d{4}-/.test(due)) return { none: 'no_date' };
  return isWithin(due, recurrence) ? { due } : { none: 'until' };
}

/**
 * Like `nextDue`, but skips to the latest missed date, so that a series does not create many tasks after an outage
 * (docs/decisions/work.md#missed-occurrences).
 */
export function nextOnSchedule(calendar: Calendar, after: string, now: Date): NextDue {
  const next = nextDue(calendar, after);
  if ('none' in next || toMoment(next.due, calendar.recurrence.timezone) >= now.getTime()) return next;
  const { timezone } = calendar.recurrence;
  const rules = buildRules(calendar);
  let before = new Date(`${Temporal.PlainDate.from(dayIn(timezone, now)).add({ days: 1 }).toString()}T00:00:00Z`);
  for (;;) {
    const day = rules
      .map((rule) => dayOrNone(() => rule.previous(before, false)))
      .filter((found) => found !== null)
      .sort()
      .at(-1);
    if (day === undefined || day <= toWall(next.due, timezone).date.toString()) return next;
    const due = dueOn(day, calendar);
    if (toMoment(due, timezone) <= now.getTime() && isWithin(due, calendar.recurrence)) return { due };
    before = new Date(`${day}T00:00:00Z`);
  }
}

/** Shifts `due` by the days between `from` and `to`, at the same time of day; null if one is missing. */
export function shiftDue(due: string | null, from: string | null, to: string, timezone: string): string | null {
  if (due === null || from === null) return null;
  const days = toWall(from, timezone).date.until(toWall(to, timezone).date, { largestUnit: 'days' }).days;
  const { date, time } = toWall(due, timezone);
  const moved = date.add({ days });
  return moved.year > 9999 ? null : toDueText({ date: moved, time }, timezone);
}
