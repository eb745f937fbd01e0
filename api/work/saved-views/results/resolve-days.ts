import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { normaliseDate } from '../../../platform/dates.js';
import { mondayOf, plusDays } from '../../../platform/written-days.js';
import { NONE } from '../../tasks/filters.js';
import type { DueRange } from '../rules.js';
import type { ViewFilters } from '../schema.js';

type Days = Pick<ViewFilters, 'due_before' | 'due_after'>;
type ResolvedDays = Days & { due: typeof NONE | undefined };

/** The calendar of a viewer. */
interface Calendar {
  /** YYYY-MM-DD */
  today: string;
  /** Day on which the week begins. */
  weekStart: string;
}
const DAYS_FROM_MONDAY: Readonly<Record<string, number>> = { saturday: -2, sunday: -1 };

/** Returns the first day of the week that a day is in. */
export const weekStartOf = ({ today, weekStart }: Calendar): string => {
  const shift = DAYS_FROM_MONDAY[weekStart] ?? 0;
  return plusDays(mondayOf(plusDays(today, -shift)), shift);
};

/** Returns the days around a range, neither of which belongs to it. */
function daysAround(due: Exclude<DueRange, 'none'>, calendar: Calendar): { due_after?: string; due_before: string } {
  const { today } = calendar;
  const around = (first: string, days: number) => ({ due_after: plusDays(first, -1), due_before: plusDays(first, days) });
  switch (due) {
    case 'overdue':
      return { due_before: today };
    case 'today':
      return around(today, 1);
    case 'week':
      return around(weekStartOf(calendar), 7);
    case 'next_7':
      return around(today, 8);
  }
}

/** $1 = user id. */
const statement = defineStatement({
  name: 'read_viewer_calendar',
  text: `select u.preferences->>'timezone' as timezone, u.preferences->>'week_start' as week_start from users u where u.user_id = $1`,
});

/** Returns the day that it is in a time zone: UTC if this runtime does not know it. */
function todayIn(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(new Date());
  } catch {
    return new Date().toISOString().slice(0, 10);
  }
}

async function readCalendar(ctx: Context): Promise<Calendar> {
  const [row] = await run<{ timezone: string | null; week_start: string | null }>(ctx.db, statement, [requireUser(ctx)]);
  return { today: todayIn(row?.timezone ?? 'UTC'), weekStart: row?.week_start ?? 'monday' };
}

/**
 * Returns the days around the tasks that are due as a view says: those it names, and those of a range in the viewer's calendar, whichever are
 * closer. Tasks that are due on no day have no days around them.
 */
export async function resolveDays(
  ctx: Context,
  { due, due_before, due_after }: Days & Pick<ViewFilters, 'due'>,
): Promise<ResolvedDays> {
  const range = due === undefined || due === NONE ? undefined : daysAround(due, await readCalendar(ctx));
  const read = (...days: (string | undefined)[]) => days.flatMap((day) => (day && normaliseDate(day)) || []).toSorted();
  return {
    due: due === NONE ? NONE : undefined,
    due_before: read(due_before, range?.due_before)[0],
    due_after: read(due_after, range?.due_after).at(-1),
  };
}
