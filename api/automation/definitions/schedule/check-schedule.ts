import { invalid } from '../../../platform/errors.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { parseCron } from './cron.js';
import { nextTimes } from './next-times.js';

/**
 * Validates the schedule of an automation on save. Returns null if the trigger is not `schedule`.
 * @throws INVALID_REQUEST with the position, or if it has no next time
 */
export function checkSchedule(triggerType: string, cron: string | null, timezone: string): string | null {
  if (triggerType !== 'schedule') return null;
  const source = cron?.trim() ?? '';
  if (source === '') throw invalid('schedule_cron: required for the trigger schedule');
  const parsed = parseCron(source);
  if (!parsed.ok) throw invalid(`schedule_cron: ${parsed.message} (at character ${parsed.position})`);
  if (nextTimes(parsed.cron, timezone, new Date(), 1).length === 0)
    throw invalid('schedule_cron: never matches (at character 0)');
  return source;
}

/** Returns the next times of a stored schedule; empty without one, or if its time zone is unknown here. */
export function upcoming(schedule: { schedule_cron: string | null; schedule_timezone: string }, count: number): Date[] {
  const parsed = schedule.schedule_cron === null ? undefined : parseCron(schedule.schedule_cron);
  const timezone = zoneNamed(schedule.schedule_timezone);
  return parsed?.ok && timezone ? nextTimes(parsed.cron, timezone, new Date(), count) : [];
}
