import { Temporal } from 'temporal-polyfill';
import type { Cron } from './cron.js';

/** Search range for a next time, in days: covers the four years between leap days, except around 2100. */
const HORIZON_DAYS = 5 * 366;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Returns whether the day matches. `weekday` 0 is Sunday. */
function isDay(cron: Cron, day: number, weekday: number): boolean {
  const ofMonth = cron.dayOfMonth.includes(day);
  const ofWeek = cron.dayOfWeek.includes(weekday);
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/**
 * Returns whether the zone's local time at this moment matches the schedule, including a repeated local time that is not listed
 * as a next time.
 */
export function matchesCron(cron: Cron, timezone: string, moment: Date): boolean {
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone);
  const onTheMinute = moment.getTime() % MINUTE_MS === 0;
  const isWall = cron.minute.includes(zoned.minute) && cron.hour.includes(zoned.hour);
  return onTheMinute && isWall && cron.month.includes(zoned.month) && isDay(cron, zoned.day, zoned.dayOfWeek % 7);
}

/** An hourly line continues in real time through a repeated hour; any other line fires once per local time. */
const isHourly = ({ hour }: Cron): boolean => hour.length === 24;

/**
 * Returns the moment that identifies a time of the schedule. A repeated local time counts as the earlier moment, so only the
 * first one fires.
 */
export function countsAs(cron: Cron, timezone: string, moment: Date): Date {
  if (isHourly(cron)) return moment;
  const wall = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone).toPlainDateTime();
  return new Date(wall.toZonedDateTime(timezone, { disambiguation: 'earlier' }).epochMilliseconds);
}

const offsetAt = (moment: number, timezone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6;

/**
 * Returns the moments of a local time on a day when the clock changes; empty if the time is skipped. For a repeated time,
 * Temporal's server fires at the moment it finds by guessing the offset as if the time were UTC, and at the later one. East of
 * Greenwich both are the same moment; west of it there are two.
 */
function changingMoments(date: Temporal.PlainDate, wall: { hour: number; minute: number }, timezone: string): number[] {
  const local = date.toPlainDateTime(wall);
  const asUtc = local.toZonedDateTime('UTC').epochMilliseconds;
  const guessed = asUtc - offsetAt(asUtc - offsetAt(asUtc, timezone), timezone);
  const later = local.toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds;
  return [...new Set([guessed, later])].filter((moment) => moment + offsetAt(moment, timezone) === asUtc);
}

/** Yields the matching moments of a day, in order. */
function* timesOn(cron: Cron, date: Temporal.PlainDate, timezone: string): Generator<number> {
  const start = date.toZonedDateTime(timezone);
  if (start.hoursInDay === 24 && start.hour === 0) {
    for (const hour of cron.hour)
      for (const minute of cron.minute) yield start.epochMilliseconds + hour * HOUR_MS + minute * MINUTE_MS;
    return;
  }
  const walls = cron.hour.flatMap((hour) => cron.minute.map((minute) => ({ hour, minute })));
  const maxMoments = isHourly(cron) ? 2 : 1;
  yield* walls.flatMap((wall) => changingMoments(date, wall, timezone).slice(0, maxMoments)).sort((a, b) => a - b);
}

/**
 * Yields the matching days within the search range. Uses plain numbers and skips whole months: matching days may be years apart,
 * and lists show the next times of a thousand schedules.
 */
function* daysFrom(cron: Cron, from: Temporal.PlainDate): Generator<Temporal.PlainDate> {
  const first = Date.UTC(from.year, from.month - 1, from.day);
  const end = first + HORIZON_DAYS * DAY_MS;
  for (let at = first; at < end; ) {
    const day = new Date(at);
    const isMonth = cron.month.includes(day.getUTCMonth() + 1);
    if (isMonth && isDay(cron, day.getUTCDate(), day.getUTCDay())) yield from.add({ days: (at - first) / DAY_MS });
    at = isMonth ? at + DAY_MS : Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1);
  }
}

/**
 * Returns the next times of a schedule after a moment, by the local time of its zone. A skipped local time does not fire; a
 * repeated one fires once, or as Temporal's server does for an hourly line. Matches the behavior of a Temporal Schedule
 * (`toCalendars`), which the tests compare. Returns fewer than `count` if no more follow within five years.
 */
export function nextTimes(cron: Cron, timezone: string, after: Date, count: number): Date[] {
  const found: Date[] = [];
  const from = Temporal.Instant.fromEpochMilliseconds(after.getTime()).toZonedDateTimeISO(timezone).toPlainDate();
  for (const date of daysFrom(cron, from)) {
    for (const moment of timesOn(cron, date, timezone)) {
      if (moment > after.getTime()) found.push(new Date(moment));
      if (found.length === count) return found;
    }
  }
  return found;
}
