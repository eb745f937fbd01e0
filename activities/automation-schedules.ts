import { type Client, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { calendarsOf } from '../api/automations/schedule/calendars.js';
import { parseCron } from '../api/automations/schedule/cron.js';
import { CATCH_UP_MINUTES, fireSchedule } from '../api/automations/schedule/fire-schedule.js';
import type { Services } from '../api/core/context.js';
import { Id } from '../api/core/fields.js';
import { zoneNamed } from '../api/core/time-zones.js';
import { AUTOMATION_SCHEDULE, scheduleId, type ScheduleActivities, taskQueue } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { type ProjectionOptions, ScheduleProjection } from './schedule-projection.js';
import { escapeMarkdown } from './worker/escape-markdown.js';

/** Activities of the workflow automationSchedule. */
export const scheduleActivities = (services: Services): ScheduleActivities & Record<string, unknown> => ({
  fireSchedule: (automationId, nominalTime) => fireSchedule(services, automationId, nominalTime),
});

/** Fields of an enabled automation with a schedule that its Temporal Schedule shows. */
interface Armed {
  automation_id: string;
  name: string;
  team_id: string | null;
  schedule_cron: string;
  schedule_timezone: string;
}
const COLUMNS = ['automation_id', 'name', 'team_id', 'schedule_cron', 'schedule_timezone'] as const;
const ARMED = { trigger_type: 'schedule', is_active: true, deleted_at: null };

/** Maintains one Temporal Schedule per enabled automation with a schedule. */
export class ScheduleSync extends ScheduleProjection<Armed> {
  constructor(client: Client, options: ProjectionOptions) {
    super(client, options, { outbox: 'schedule.sync', id: 'automation_id', what: 'automations' });
  }

  protected idOf = (automationId: string): string => scheduleId(this.options.taskQueuePrefix, automationId);
  protected subjectOf = ({ automation_id }: Armed): string => automation_id;
  protected noteOf = (armed: Armed): string => `${armed.schedule_cron} (${armed.schedule_timezone}) · ${armed.name}`;
  protected readAll = async (db: Services['db']): Promise<Armed[]> => db('automations').where(ARMED).select<Armed[]>(COLUMNS);
  protected read = async (db: Services['db'], automationId: string): Promise<Armed | undefined> =>
    db('automations')
      .where({ automation_id: Id.parse(automationId), ...ARMED })
      .first<Armed | undefined>(COLUMNS);

  /**
   * Missed times fire within the catch-up window, whether the server or the worker was down (`fireSchedule` applies the same
   * limit). Each time starts its own run, so one that waits for approval does not block the next.
   */
  protected scheduleOf(armed: Armed): ScheduleOptions | undefined {
    const parsed = parseCron(armed.schedule_cron);
    const timezone = zoneNamed(armed.schedule_timezone);
    if (!parsed.ok || timezone === undefined) return undefined;
    const { automation_id, name, team_id } = armed;
    const { taskQueuePrefix, searchable } = this.options;
    const attributes = [
      { key: ATTRIBUTE.Process, value: 'automation_schedule' },
      { key: ATTRIBUTE.AutomationId, value: automation_id },
      ...(team_id ? [{ key: ATTRIBUTE.TeamId, value: team_id }] : []),
    ];
    return {
      scheduleId: this.idOf(automation_id),
      spec: { calendars: calendarsOf(parsed.cron), timezone },
      action: {
        type: 'startWorkflow',
        workflowType: AUTOMATION_SCHEDULE,
        workflowId: this.idOf(automation_id),
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [automation_id],
        staticSummary: `${escapeMarkdown(name.slice(0, 100).toWellFormed())} · scheduled`,
        ...(searchable ? { typedSearchAttributes: attributes } : {}),
      },
      policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: `${CATCH_UP_MINUTES} minutes`, pauseOnFailure: false },
      state: { note: this.noteOf(armed) },
    };
  }
}
