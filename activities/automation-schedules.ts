import { ScheduleOverlapPolicy } from '@temporalio/client';
import { toCalendars } from '../api/automation/definitions/schedule/calendars.js';
import { parseCron } from '../api/automation/definitions/schedule/cron.js';
import { CATCH_UP_MINUTES, fireSchedule } from '../api/automation/definitions/schedule/fire-schedule.js';
import { zoneNamed } from '../api/platform/time-zones.js';
import { defineStatement } from '../db/statement.js';
import { AUTOMATION_SCHEDULE, scheduleId, type ScheduleActivities } from '../workflows/contracts/run-contract.js';
import { defineScheduleProjection } from './schedule-projection.js';
import { escapeMarkdown } from './worker/escape-markdown.js';

/** Fields of an enabled automation with a schedule that its Temporal Schedule shows. */
interface ScheduledAutomation {
  automation_id: string;
  name: string;
  team_id: string | null;
  schedule_cron: string;
  schedule_timezone: string;
}

const SCHEDULED = /* sql */ `
  select automation_id, name, team_id, schedule_cron, schedule_timezone from automations
  where trigger_type = 'schedule' and is_active and deleted_at is null`;

/** Enabled automations with a schedule. */
export const automationSchedules = defineScheduleProjection<ScheduledAutomation>({
  note: {
    process: 'automation_schedule',
    workflowId: 'sched:<automation_id>-<time>',
    shows: 'Times of schedules that came; the result says what became of each. The Schedules are `sched:<automation_id>`',
  },
  activities: {
    core: (services): ScheduleActivities => ({ fireSchedule: (id, nominalTime) => fireSchedule(services, id, nominalTime) }),
  },
  plural: 'automations',
  kind: 'schedule.sync',
  key: 'automation_id',
  getId: scheduleId,
  all: defineStatement({ name: 'automation_schedules', text: SCHEDULED }),
  one: defineStatement({ name: 'automation_schedule', text: `${SCHEDULED} and automation_id = $1` }),
  parseTimes({ schedule_cron, schedule_timezone }) {
    const parsed = parseCron(schedule_cron);
    const timezone = zoneNamed(schedule_timezone);
    return parsed.ok && timezone !== undefined ? { calendars: toCalendars(parsed.cron), timezone } : undefined;
  },
  buildNote: ({ schedule_cron, schedule_timezone, name }) => `${schedule_cron} (${schedule_timezone}) · ${name}`,
  /**
   * Missed times fire within the catch-up window, whether the server or the worker was down (`fireSchedule` applies the same limit). Each time
   * starts its own run, so one that waits for approval does not block the next.
   */
  policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: `${CATCH_UP_MINUTES} minutes` },
  workflow: AUTOMATION_SCHEDULE,
  summary: ({ name }) => `${escapeMarkdown(name.slice(0, 100).toWellFormed())} · scheduled`,
  attributes: ({ automation_id, team_id }) => ({ AutomationId: automation_id, TeamId: team_id }),
});
