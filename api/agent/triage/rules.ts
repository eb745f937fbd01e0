import { invalid } from '../../core/errors.js';
import { TASK_PRIORITIES, type TaskPriority } from '../../tasks/rules.js';
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

/** Returns the priority one step up; null for the highest. */
export function raisedPriority(priority: TaskPriority): TaskPriority | null {
  return TASK_PRIORITIES[TASK_PRIORITIES.indexOf(priority) + 1] ?? null;
}

/** Days without a change or a comment after which a task is asked about; also the rest after an answer. */
export const QUIET_DAYS = 14;
/** Comment on a task that nobody has touched. The words are ours, never a model's. */
export const STALE_COMMENT = `No change for ${QUIET_DAYS} days. Is this still planned? Update the task, archive it, or say what it waits for.`;
