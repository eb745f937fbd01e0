import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { calendarsOf } from '../api/automations/schedule/calendars.js';
import { parseCron } from '../api/automations/schedule/cron.js';
import { CATCH_UP_MINUTES, fireSchedule } from '../api/automations/schedule/fire-schedule.js';
import type { Services } from '../api/core/context.js';
import { Id } from '../api/core/fields.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { zoneNamed } from '../api/core/time-zones.js';
import { AUTOMATION_SCHEDULE, scheduleId, type ScheduleActivities, taskQueue } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
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

interface Sync {
  outbox_id: number;
  automation_id: string;
}

/** $1 = leased rows. No table is joined: the Schedule may outlive its automation. */
const details = {
  name: 'schedule_dispatches',
  text: `select outbox_id, payload->>'automation_id' as automation_id from outbox where outbox_id = any($1::bigint[])`,
};

/** Enqueues schedules that have no row in the outbox yet. */
const REQUEUE = /* sql */ `
  insert into outbox (kind, subject, payload, correlation_id)
  select 'schedule.sync', id, jsonb_build_object('automation_id', id), uuidv7() from unnest(?::text[]) id
  where not exists (select from outbox o where o.kind = 'schedule.sync' and o.subject = id)`;

/** Returns the note of a Schedule: shown to operators, and compared to detect an outdated Schedule. */
const noteOf = (armed: Armed): string => `${armed.schedule_cron} (${armed.schedule_timezone}) · ${armed.name}`;

/** Maintains one Temporal Schedule per enabled automation with a schedule: a projection of the row, which alone decides. */
export class ScheduleSync implements Dispatcher<Sync> {
  readonly kinds = ['schedule.sync'];
  readonly details = details;

  constructor(
    private readonly client: Client,
    private readonly options: { taskQueuePrefix: string; searchable: boolean },
  ) {}

  /**
   * Compares all Schedules with the rows, at the start and periodically. Differences go through the outbox, which retries each
   * separately, so one that Temporal rejects does not block others. Returns the number enqueued.
   */
  async reconcile(services: Services): Promise<number> {
    const armed = await services.db('automations').where(ARMED).select<Armed[]>(COLUMNS);
    const wanted = new Map(armed.map((each) => [this.idOf(each.automation_id), each]));
    const stale = new Set(armed.map((each) => each.automation_id));
    const prefix = this.idOf('');
    for await (const { scheduleId: id, state } of this.client.schedule.list()) {
      if (!id.startsWith(prefix)) continue;
      const automationId = id.slice(prefix.length);
      const row = wanted.get(id);
      if (row && state.note === noteOf(row)) stale.delete(automationId);
      else stale.add(automationId);
    }
    if (stale.size === 0) return 0;
    const { rowCount } = await services.db.raw<{ rowCount: number }>(REQUEUE, [[...stale]]);
    if (rowCount > 0) services.log.warn({ schedules: rowCount }, 'schedules differ from their automations; reconciling');
    services.notifyRelay();
    return rowCount;
  }

  private readonly idOf = (automationId: string): string => scheduleId(this.options.taskQueuePrefix, automationId);

  /** Repeats until the row is unchanged by the end: another worker may project a newer one concurrently. */
  async dispatch({ automation_id: automationId }: Sync, { db }: Services): Promise<void> {
    const read = () =>
      db('automations')
        .where({ automation_id: Id.parse(automationId), ...ARMED })
        .first<Armed | undefined>(COLUMNS);
    for (let row = await read(); ; ) {
      await this.project(automationId, row);
      const now = await read();
      if ((row && noteOf(row)) === (now && noteOf(now))) return;
      row = now;
    }
  }

  private async project(automationId: string, armed: Armed | undefined): Promise<void> {
    const handle = this.client.schedule.getHandle(this.idOf(automationId));
    const options = armed && this.scheduleOf(armed);
    if (!options) {
      await handle.delete().catch((error: unknown) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
      return;
    }
    try {
      await this.client.schedule.create(options);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { action, spec, policies, state } = options;
      await handle.update((before) => ({ ...before, action, spec, policies, state: { ...before.state, ...state } }) as never);
    }
  }

  /**
   * Missed times fire within the catch-up window, whether the server or the worker was down (`fireSchedule` applies the same
   * limit). Each time starts its own run, so one that waits for approval does not block the next.
   */
  private scheduleOf(armed: Armed): ScheduleOptions | undefined {
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
      state: { note: noteOf(armed) },
    };
  }
}
