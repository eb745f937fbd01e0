import { invalid } from '../../core/errors.js';
import { type Cron, parseCron } from '../../automations/schedule/cron.js';
import { nextTimes } from '../../automations/schedule/next-times.js';
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

/** Returns the next time of a stored schedule; null if it has none. */
export function nextNight(cron: string, timezone: string, after = new Date()): Date | null {
  const parsed = parseCron(cron);
  return parsed.ok ? (nextTimes(parsed.cron, timezone, after, 1)[0] ?? null) : null;
}

/** Returns the parsed schedule; undefined for a stored one that this build cannot read. */
export function parsedNightly(cron: string): Cron | undefined {
  const parsed = parseCron(cron);
  return parsed.ok ? parsed.cron : undefined;
}

/** Returns the day of a moment in a time zone, such as `2026-11-22`: it names the night. */
export const dayIn = (timezone: string, moment: Date): string =>
  Temporal.Instant.fromEpochMilliseconds(moment.getTime()).toZonedDateTimeISO(timezone).toPlainDate().toString();
