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

/** A calendar of a Temporal Schedule; a day must match both day fields. */
interface Calendar {
  minute: number[];
  hour: number[];
  month: (typeof MONTHS)[number][];
  dayOfMonth: number[];
  dayOfWeek: (typeof DAYS)[number][];
}

const EVERY_DAY_OF_MONTH = Array.from({ length: 31 }, (_, i) => i + 1);

/** Converts a cron line to calendars. If either kind of day suffices, it needs two, because a calendar requires both. */
export function toCalendars({ minute, hour, month, dayOfMonth, dayOfWeek, eitherDay }: Cron): Calendar[] {
  const times = { minute, hour, month: month.map((each) => MONTHS[each - 1] as (typeof MONTHS)[number]) };
  const named = dayOfWeek.map((day) => DAYS[day] as (typeof DAYS)[number]);
  if (!eitherDay) return [{ ...times, dayOfMonth, dayOfWeek: named }];
  return [
    { ...times, dayOfMonth, dayOfWeek: [...DAYS] },
    { ...times, dayOfMonth: EVERY_DAY_OF_MONTH, dayOfWeek: named },
  ];
}
