import { Temporal } from 'temporal-polyfill';
import type { Cron } from './cron.js';

/** How far ahead a next time is looked for, days: the 29th of February comes within eight years at the latest. */
const HORIZON_DAYS = 5 * 366;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function isDay(cron: Cron, date: Temporal.PlainDate): boolean {
  if (!cron.month.includes(date.month)) return false;
  const ofMonth = cron.dayOfMonth.includes(date.day);
  const ofWeek = cron.dayOfWeek.includes(date.dayOfWeek % 7);
  return cron.eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** True for a moment at which the zone's clock shows a time of the schedule: also for the one of two that is not shown as a next time. */
export function isTimeOf(cron: Cron, timezone: string, moment: Date): boolean {
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone);
  const onTheMinute = moment.getTime() % MINUTE_MS === 0;
  return onTheMinute && cron.minute.includes(zoned.minute) && cron.hour.includes(zoned.hour) && isDay(cron, zoned.toPlainDate());
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

/** The moments of a day at which its clock shows one of the times. */
function timesOn(cron: Cron, date: Temporal.PlainDate, timezone: string): number[] {
  const start = date.toZonedDateTime(timezone);
  const walls = cron.hour.flatMap((hour) => cron.minute.map((minute) => ({ hour, minute })));
  if (start.hoursInDay === 24 && start.hour === 0) {
    return walls.map(({ hour, minute }) => start.epochMilliseconds + hour * HOUR_MS + minute * MINUTE_MS);
  }
  return walls.flatMap((wall) => changingMoments(date, wall, timezone)).sort((a, b) => a - b);
}

/**
 * The next times of a schedule after a moment, as its zone's clock on the wall shows them: a time that a night leaves out does not
 * fire, one that comes twice does as the server has it. This is what a Temporal Schedule does (`calendarsOf`); the tests hold one to the other.
 * Fewer than `count` where no more come within five years.
 */
export function nextTimes(cron: Cron, timezone: string, after: Date, count: number): Date[] {
  const found: Date[] = [];
  const from = Temporal.Instant.fromEpochMilliseconds(after.getTime()).toZonedDateTimeISO(timezone).toPlainDate();
  for (let day = 0; day < HORIZON_DAYS && found.length < count; day += 1) {
    const date = from.add({ days: day });
    if (!isDay(cron, date)) continue;
    const later = timesOn(cron, date, timezone).filter((moment) => moment > after.getTime());
    found.push(...later.slice(0, count - found.length).map((moment) => new Date(moment)));
  }
  return found;
}
