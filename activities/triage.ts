import { type Client, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { parsedNightly } from '../api/agent/triage/nightly.js';
import { type NightlyTeam, nightlyTeamsStatement, nightlyTeamStatement } from '../api/agent/triage/schedules.sql.js';
import { triageNight } from '../api/agent/triage/triage-night.js';
import { calendarsOf } from '../api/automations/schedule/calendars.js';
import type { Services } from '../api/core/context.js';
import { Id } from '../api/core/fields.js';
import { zoneNamed } from '../api/core/time-zones.js';
import { run } from '../db/statement.js';
import { OVERNIGHT_TRIAGE, taskQueue, type TriageActivities, triageScheduleId } from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { type ProjectionOptions, ScheduleProjection } from './schedule-projection.js';

/** Activities of both triages. */
export const triageActivities = (services: Services): Pick<TriageActivities, 'triageNight'> & Record<string, unknown> => ({
  triageNight: (teamId: string, nominalTime: string) => triageNight(services, teamId, nominalTime),
});

/** How late a night may start after an outage: later it is morning, and the next night comes soon. */
const CATCH_UP = '6 hours';
/** Teams with the same time start within this time. */
const JITTER = '20 minutes';

/** Maintains one Temporal Schedule per team whose overnight triage is enabled. */
export class TriageSync extends ScheduleProjection<NightlyTeam> {
  constructor(client: Client, options: ProjectionOptions) {
    super(client, options, { outbox: 'triage.sync', id: 'team_id', what: 'teams' });
  }

  protected idOf = (teamId: string): string => triageScheduleId(this.options.taskQueuePrefix, teamId);
  protected subjectOf = ({ team_id }: NightlyTeam): string => team_id;
  protected noteOf = (team: NightlyTeam): string => `${team.overnight_cron} (${team.overnight_timezone}) · overnight triage`;
  protected readAll = (db: Services['db']): Promise<NightlyTeam[]> => run<NightlyTeam>(db, nightlyTeamsStatement, []);
  protected read = async (db: Services['db'], teamId: string): Promise<NightlyTeam | undefined> =>
    (await run<NightlyTeam>(db, nightlyTeamStatement, [Id.parse(teamId)]))[0];

  protected scheduleOf(team: NightlyTeam): ScheduleOptions | undefined {
    const cron = parsedNightly(team.overnight_cron);
    const timezone = zoneNamed(team.overnight_timezone);
    if (!cron || timezone === undefined) return undefined;
    const { taskQueuePrefix, searchable } = this.options;
    const attributes = [
      { key: ATTRIBUTE.Process, value: 'overnight_triage' },
      { key: ATTRIBUTE.TriggerType, value: 'schedule' },
      { key: ATTRIBUTE.TeamId, value: team.team_id },
    ];
    return {
      scheduleId: this.idOf(team.team_id),
      spec: { calendars: calendarsOf(cron), timezone, jitter: JITTER },
      action: {
        type: 'startWorkflow',
        workflowType: OVERNIGHT_TRIAGE,
        workflowId: this.idOf(team.team_id),
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [team.team_id],
        staticSummary: 'Overnight triage',
        ...(searchable ? { typedSearchAttributes: attributes } : {}),
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP, pauseOnFailure: false },
      state: { note: this.noteOf(team) },
    };
  }
}
