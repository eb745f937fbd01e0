import { Temporal } from 'temporal-polyfill';

const NAME = /^[A-Z][A-Z0-9_+-]*(\/[A-Z0-9_+-]+)*$/i;
/** Names of ICU only, and two that the tz database removed: no other program knows them. */
const OF_ICU_ALONE = /^(SystemV\/.*|US\/Pacific-New|Canada\/East-Saskatchewan)$/i;

/**
 * Returns the spelling of the tz database for an IANA name in any case, because the Temporal server is case-sensitive. Returns
 * undefined for other names, some of which `Intl` accepts: offsets, and ambiguous abbreviations such as PST.
 */
export function zoneNamed(name: string): string | undefined {
  if (!NAME.test(name) || OF_ICU_ALONE.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}
