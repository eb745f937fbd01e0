import { dayFields } from '../../platform/dates.js';
import { invalid } from '../../platform/errors.js';
import { doesRepeat } from './rules.js';

interface Dates {
  start_date: string | null;
  end_date: string | null;
  auto_complete: boolean;
  repeats: boolean;
}

/** Normalizes the days of a body that it has; null passes. @throws INVALID_REQUEST for a malformed one */
export const toDays = ({ start_date, end_date }: { [Day in 'start_date' | 'end_date']?: string | null | undefined }) =>
  dayFields({ ...(start_date !== undefined && { start_date }), ...(end_date !== undefined && { end_date }) }) as Partial<
    Pick<Dates, 'start_date' | 'end_date'>
  >;

/** @throws INVALID_REQUEST for an end before the start, a completion by date without an end, or a repetition without both days and a completion by date */
export function checkDates({ start_date, end_date, auto_complete, repeats }: Dates): void {
  if (start_date !== null && end_date !== null && end_date < start_date) throw invalid('end_date must not be before start_date');
  if (auto_complete && end_date === null) throw invalid('auto_complete needs an end_date');
  if (repeats && !doesRepeat({ start_date, end_date, auto_complete, repeats })) {
    throw invalid('repeats needs start_date, end_date and auto_complete');
  }
}
