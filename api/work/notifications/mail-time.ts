import { Temporal } from 'temporal-polyfill';
import type { NoticeFact } from './write-notices.sql.js';

/** Minutes that a person has to read a notice before an email lists it. */
const SOON_MINUTES = 10;
/** Hour of the daily email, in the person's time zone. */
const MORNING = 8;

/** Returns when an email lists a notice, as ISO 8601; null: never. A time zone that is not known counts as UTC. */
export function mailTime({ notice_mail, timezone }: Pick<NoticeFact, 'notice_mail' | 'timezone'>, now: Date): string | null {
  if (notice_mail === 'never') return null;
  if (notice_mail === 'soon') return new Date(now.getTime() + SOON_MINUTES * 60_000).toISOString();
  const instant = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  let local: Temporal.ZonedDateTime;
  try {
    local = instant.toZonedDateTimeISO(timezone ?? 'UTC');
  } catch {
    local = instant.toZonedDateTimeISO('UTC');
  }
  const morning = local.withPlainTime({ hour: MORNING });
  return (Temporal.ZonedDateTime.compare(morning, local) > 0 ? morning : morning.add({ days: 1 })).toInstant().toString();
}
