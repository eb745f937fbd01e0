import { Temporal } from 'temporal-polyfill';
import type { Cron } from './cron.js';

/** How far ahead a next time is looked for, days: the 29th of February comes within eight years at the latest. */
const HORIZON_DAYS = 5 * 366;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Of a day in one of its months. `weekday` from Sunday, 0. */
function isDay(cron: Cron, day: number, weekday: number): boolean {
  const ofMonth = cron.dayOfMonth.includes(day);
  const ofWeek = cron.dayOfWeek.includes(weekday);
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** True for a moment at which the zone's clock shows a time of the schedule: also for the one of two that is not shown as a next time. */
export function isTimeOf(cron: Cron, timezone: string, moment: Date): boolean {
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone);
  const onTheMinute = moment.getTime() % MINUTE_MS === 0;
  const isWall = cron.minute.includes(zoned.minute) && cron.hour.includes(zoned.hour);
  return onTheMinute && isWall && cron.month.includes(zoned.month) && isDay(cron, zoned.day, zoned.dayOfWeek % 7);
}

/** A line for every hour goes on by real time through the hour that a night has twice; any other means each time of the clock once. */
const isHourly = ({ hour }: Cron): boolean => hour.length === 24;

/**
 * The moment as which a time of the schedule counts. Of two at which the clock shows the same, both count as the earlier one: whichever
 * fires first is the only one.
 */
export function countsAs(cron: Cron, timezone: string, moment: Date): Date {
  if (isHourly(cron)) return moment;
  const wall = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone).toPlainDateTime();
  return new Date(wall.toZonedDateTime(timezone, { disambiguation: 'earlier' }).epochMilliseconds);
}

const offsetAt = (moment: number, timezone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6;

/**
 * The moments at which a zone's clock shows a time on a day when the clock is changed: none for one that is left out. Of two, Temporal's
 * server takes the one that it finds by guessing the offset as if the time were UTC, and the later one: east of Greenwich, where both are
 * the same, once, west of it twice.
 */
function changingMoments(date: Temporal.PlainDate, wall: { hour: number; minute: number }, timezone: string): number[] {
  const local = date.toPlainDateTime(wall);
  const asUtc = local.toZonedDateTime('UTC').epochMilliseconds;
  const guessed = asUtc - offsetAt(asUtc - offsetAt(asUtc, timezone), timezone);
  const later = local.toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds;
  return [...new Set([guessed, later])].filter((moment) => moment + offsetAt(moment, timezone) === asUtc);
}

/** The moments of a day at which its clock shows one of the times, in order. */
function* timesOn(cron: Cron, date: Temporal.PlainDate, timezone: string): Generator<number> {
  const start = date.toZonedDateTime(timezone);
  if (start.hoursInDay === 24 && start.hour === 0) {
    for (const hour of cron.hour)
      for (const minute of cron.minute) yield start.epochMilliseconds + hour * HOUR_MS + minute * MINUTE_MS;
    return;
  }
  const walls = cron.hour.flatMap((hour) => cron.minute.map((minute) => ({ hour, minute })));
  const most = isHourly(cron) ? 2 : 1;
  yield* walls.flatMap((wall) => changingMoments(date, wall, timezone).slice(0, most)).sort((a, b) => a - b);
}

/**
 * The days of a schedule from a day on, as far as the horizon. Plain numbers, whole months at a time: between two that are meant may lie
 * years, and lists show the next times of a thousand schedules.
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
 * The next times of a schedule after a moment, as its zone's clock on the wall shows them: a time that a night leaves out does not
 * fire, one that comes twice does once, or as the server has it where the line is for every hour. This is what a Temporal Schedule does (`calendarsOf`); the tests hold one to the other.
 * Fewer than `count` where no more come within five years.
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
