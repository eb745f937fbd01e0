import { EXPORT_FILTERS, type ExportFilters } from '../export-proof.js';

/** Entries of an export, of a correlation, and of a total that is exact (docs/decisions/audit.md#audit-log-reads). */
export const MAX_ENTRIES = 10_000;

/** The parameters of a page, of which `offset` precedes `skip`, and both precede `page`. */
interface Window {
  limit: number;
  offset?: number | undefined;
  skip?: number | undefined;
  page?: number | undefined;
}

/** Returns the number of rows to skip. */
export const rowsToSkip = ({ limit, offset, skip, page = 1 }: Window): number =>
  offset ?? skip ?? Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);

/** Returns the filters that apply, without absent ones. */
export function resolveFilters(given: ExportFilters): Record<string, string> {
  return Object.fromEntries(
    EXPORT_FILTERS.flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const DAY_MS = 86_400_000;

/**
 * Returns the time at the start of the day that a bound names, in milliseconds since 1970; null if it names none. Bounds are text of any form.
 */
function parseDay(bound: string | undefined): number | null {
  const [day] = /^\d{4}-\d\d-\d\d/.exec(bound ?? '') ?? [];
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * Returns times, in milliseconds since 1970, between which the ids of all matching entries were made; null without a limit. An id is made up to
 * a day before or after the entry's time: it is the request's. Ids name the monthly partition, so this spares the other ones.
 */
export function idTimes({ from_time, to_time }: ExportFilters): { from: number | null; to: number | null } {
  const [from, to] = [parseDay(from_time), parseDay(to_time)];
  return { from: from === null ? null : from - DAY_MS, to: to === null ? null : to + 2 * DAY_MS };
}

/** Returns a time as entries store it: naive UTC with six digits. */
export const naiveTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000');
