import { z } from 'zod';
import { upcoming } from '../../../automation/definitions/schedule/check-schedule.js';
import { parseCron } from '../../../automation/definitions/schedule/cron.js';
import { readSchedule, scheduleInWords } from '../../../automation/definitions/schedule/written-schedule.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { page, type Page } from '../../page.js';

/** Next times that the form shows. */
const TIMES = 3;

/** What the times of a schedule come to. */
export interface ScheduleCheck {
  state: 'none' | 'wrong' | 'fine';
  message: string | null;
  /** The cron line, and the same in words if it is regular. */
  cron: string;
  words: string | null;
  /** The next times, as ISO 8601. */
  next: string[];
  /** Zone of the schedule. */
  timezone: string;
}

/** Reads a schedule as typed, in words or as cron, and lists its next times. An empty zone is UTC. */
export function checkTyped(typed: string, zone: string): ScheduleCheck {
  const read = readSchedule(typed, new Date().toISOString().slice(0, 10));
  const timezone = zone.trim() || 'UTC';
  const about = { message: null, cron: '', words: null, next: [], timezone };
  const wrong = (message: string): ScheduleCheck => ({ ...about, state: 'wrong', message });
  if ('problem' in read) return wrong(read.problem);
  const { cron } = read;
  if (cron === '') return { ...about, state: 'none' };
  const parsed = parseCron(cron);
  if (!parsed.ok) return wrong(`${parsed.message} (at character ${parsed.position})`);
  if (zoneNamed(timezone) === undefined) return wrong('The time zone is not one of the IANA list, such as Europe/Berlin');
  const next = upcoming({ schedule_cron: cron, schedule_timezone: timezone }, TIMES).map((at) => at.toISOString());
  return next.length === 0 ? wrong('never matches') : { ...about, state: 'fine', cron, words: scheduleInWords(cron), next };
}

export const schedulePages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/schedule',
    access: 'automation.catalogue',
    query: z.object({ schedule_cron: z.string().max(200).catch(''), schedule_timezone: z.string().max(100).catch('') }),
    handle: ({ query: { schedule_cron, schedule_timezone } }) =>
      Promise.resolve({
        view: 'automations/schedule-page',
        title: 'Schedule',
        data: { schedule: checkTyped(schedule_cron, schedule_timezone) },
      }),
  }),
];
