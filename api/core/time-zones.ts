import { Temporal } from 'temporal-polyfill';

const NAME = /^[A-Z][A-Z0-9_+-]*(\/[A-Z0-9_+-]+)*$/i;
/** ICU's own, and two that it keeps though the tz database has given them up: no other program knows them. */
const OF_ICU_ALONE = /^(SystemV\/.*|US\/Pacific-New|Canada\/East-Saskatchewan)$/i;

/**
 * A time zone by its IANA name, in whatever case, as the tz database spells it: the Temporal server tells upper from lower case.
 * Undefined for what is none, among it much that `Intl` takes: offsets, and abbreviations such as PST, which mean several zones.
 */
export function zoneNamed(name: string): string | undefined {
  if (!NAME.test(name) || OF_ICU_ALONE.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}
