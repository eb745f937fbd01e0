import type { Cron } from './cron.js';

const MONTHS = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const;
const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

/** A calendar as a Temporal Schedule takes it; a day must match both its fields. */
interface Calendar {
  minute: number[];
  hour: number[];
  month: (typeof MONTHS)[number][];
  dayOfMonth: number[];
  dayOfWeek: (typeof DAYS)[number][];
}

const EVERY_DAY_OF_MONTH = Array.from({ length: 31 }, (_, i) => i + 1);

/** A cron line as calendars: two where either kind of day will do, for a calendar wants both (ecosystem notes, 5). */
export function calendarsOf({ minute, hour, month, dayOfMonth, dayOfWeek, eitherDay }: Cron): Calendar[] {
  const around = { minute, hour, month: month.map((each) => MONTHS[each - 1] as (typeof MONTHS)[number]) };
  const named = dayOfWeek.map((day) => DAYS[day] as (typeof DAYS)[number]);
  if (!eitherDay) return [{ ...around, dayOfMonth, dayOfWeek: named }];
  return [
    { ...around, dayOfMonth, dayOfWeek: [...DAYS] },
    { ...around, dayOfMonth: EVERY_DAY_OF_MONTH, dayOfWeek: named },
  ];
}
