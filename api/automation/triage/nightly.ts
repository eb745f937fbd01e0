import { invalid } from '../../platform/errors.js';
import { type Cron, parseCron } from '../definitions/schedule/cron.js';
import { nextTimes } from '../definitions/schedule/next-times.js';
import { Temporal } from 'temporal-polyfill';

/**
 * Validates the times of the overnight triage: at most one a day, because a team has one plan a night.
 * @throws INVALID_REQUEST with the position, or if it has several times a day or no next time
 */
export function checkNightly(source: string, timezone: string): string {
  const parsed = parseCron(source.trim());
  if (!parsed.ok) throw invalid(`overnight_triage.cron: ${parsed.message} (at character ${parsed.position})`);
  if (parsed.cron.minute.length * parsed.cron.hour.length > 1) throw invalid('overnight_triage.cron: at most once a day');
  if (nextTimes(parsed.cron, timezone, new Date(), 1).length === 0) throw invalid('overnight_triage.cron: never matches');
  return source.trim();
}

/** Teams with the same time start within these minutes. */
const SPREAD_MINUTES = 20;

/**
 * Returns the times at which a team's triage starts: those of its settings, and up to 19 minutes later. The minute comes from the team's id, so it
 * is the same every night and can be told before. It stays on the same day, which names the night. Undefined for a stored schedule that this
 * build cannot read.
 */
export function parseNights(teamId: string, source: string): Cron | undefined {
  const parsed = parseCron(source);
  if (!parsed.ok) return undefined;
  const { cron } = parsed;
  const [minute, hour] = [cron.minute[0], cron.hour[0]];
  if (minute === undefined || hour === undefined || cron.minute.length * cron.hour.length > 1) return cron;
  const start = hour * 60 + minute;
  const room = Math.min(SPREAD_MINUTES, 24 * 60 - start);
  // The end of a UUIDv7 is random.
  const own = start + (Number.parseInt(teamId.slice(-8), 16) % room);
  return { ...cron, hour: [Math.floor(own / 60)], minute: [own % 60] };
}

/** Returns when a team's triage starts next; null if it never does. */
export function nextNight(teamId: string, source: string, timezone: string, after = new Date()): Date | null {
  const cron = parseNights(teamId, source);
  return cron ? (nextTimes(cron, timezone, after, 1)[0] ?? null) : null;
}

/** Returns the day of a moment in a time zone, such as `2026-11-22`: it names the night. */
export const dayIn = (timezone: string, moment: Date): string =>
  Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone).toPlainDate().toString();
