import { dayFields } from '../../platform/dates.js';
import { invalid } from '../../platform/errors.js';
import { orNull, type ProjectFields } from './rules.js';
import type { ReplaceProject } from './schema.js';

interface Dates<T> {
  start_date: T;
  end_date: T;
}

/** Normalizes both days of a body; null and undefined pass. @throws INVALID_REQUEST for a malformed one */
export const toDays = <T extends string | null | undefined>({ start_date, end_date }: Partial<Dates<T>>): Dates<T> =>
  dayFields({ start_date, end_date }) as Dates<T>;

/** @throws INVALID_REQUEST for an end before the start */
export function checkOrder({ start_date, end_date }: Dates<string | null>): void {
  if (start_date !== null && end_date !== null && end_date < start_date) throw invalid('end_date must not be before start_date');
}

/** Returns a complete project: missing fields get their defaults. @throws INVALID_REQUEST for a malformed date */
export function wholeProject({ name, description, status, lead_id, ...dates }: Omit<ReplaceProject, 'team_id'>): ProjectFields {
  const { start_date, end_date } = toDays(dates);
  return {
    name,
    description: orNull(description),
    status: status ?? 'active',
    start_date: start_date ?? null,
    end_date: end_date ?? null,
    lead_id: lead_id ?? null,
  };
}
