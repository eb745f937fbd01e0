import {
  type Client,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { nightsOf } from '../api/agent/triage/nightly.js';
import { type NightlyTeam, nightlyTeamsStatement, nightlyTeamStatement } from '../api/agent/triage/schedules.sql.js';
import { triageFailure } from '../api/agent/triage/triage-failure.js';
import { triageNight } from '../api/agent/triage/triage-night.js';
import { calendarsOf } from '../api/automations/schedule/calendars.js';
import type { Services } from '../api/core/context.js';
import { logScope } from '../api/core/telemetry/log.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { Id } from '../api/core/fields.js';
import { zoneNamed } from '../api/core/time-zones.js';
import { run, type Statement } from '../db/statement.js';
import {
  CI_FAILED_SIGNAL,
  CI_TRIAGE,
  type CiTriageInput,
  OVERNIGHT_TRIAGE,
  taskQueue,
  type TriageActivities,
  triageScheduleId,
} from '../workflows/contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { type ProjectionOptions, ScheduleProjection } from './schedule-projection.js';

/** Activities of both triages. */
export const triageActivities = (services: Services): TriageActivities & Record<string, unknown> => ({
  triageNight: (teamId: string, nominalTime: string) => triageNight(services, teamId, nominalTime),
  triageFailure: (teamId: string, receiptId: string) => triageFailure(services, teamId, receiptId),
});

/** How late a night may start after an outage: later it is morning, and the next night comes soon. */
const CATCH_UP = '6 hours';

/** Maintains one Temporal Schedule per team whose overnight triage is enabled. */
export class TriageSync extends ScheduleProjection<NightlyTeam> {
  constructor(client: Client, options: ProjectionOptions) {
    super(client, options, { outbox: 'triage.sync', id: 'team_id', what: 'teams' });
  }

  protected idOf = (teamId: string): string => triageScheduleId(this.options.taskQueuePrefix, teamId);
  protected subjectOf = ({ team_id }: NightlyTeam): string => team_id;
  /** Names the minute too: a Schedule of an earlier version, which added any time up to 20 minutes, differs and is updated. */
  protected noteOf = ({ team_id, overnight_cron, overnight_timezone }: NightlyTeam): string => {
    const { minute = [] } = nightsOf(team_id, overnight_cron) ?? {};
    return `${overnight_cron} (${overnight_timezone}), at minute ${minute.join()} · overnight triage`;
  };
  protected readAll = (db: Services['db']): Promise<NightlyTeam[]> => run<NightlyTeam>(db, nightlyTeamsStatement, []);
  protected read = async (db: Services['db'], teamId: string): Promise<NightlyTeam | undefined> =>
    (await run<NightlyTeam>(db, nightlyTeamStatement, [Id.parse(teamId)]))[0];

  protected scheduleOf(team: NightlyTeam): ScheduleOptions | undefined {
    const cron = nightsOf(team.team_id, team.overnight_cron);
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
      spec: { calendars: calendarsOf(cron), timezone },
      action: {
        type: 'startWorkflow',
        workflowType: OVERNIGHT_TRIAGE,
        workflowId: this.idOf(team.team_id),
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [team.team_id],
        staticSummary: 'Overnight triage',
        staticDetails: `Team \`${team.team_id}\`. Proposes changes to tasks that are overdue or that nobody touched; a person confirms them`,
        ...(searchable ? { typedSearchAttributes: attributes } : {}),
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP, pauseOnFailure: false },
      state: { note: this.noteOf(team) },
    };
  }
}

/** A delivery of a failed CI run, for a team. */
interface Failure {
  outbox_id: number;
  /** Workflow id. */
  subject: string;
  correlation_id: string;
  team_id: string;
  receipt_id: string;
}

/** $1 = leased rows. */
const details: Statement = {
  name: 'ci_triage_dispatches',
  text: /* sql */ `
    select outbox_id, subject, correlation_id, payload->>'team_id' as team_id, payload->>'receipt_id' as receipt_id
    from outbox where outbox_id = any($1::bigint[])`,
};

/** Starts the triage of a failed CI run, or tells it of a further delivery. */
export class CiTriageDispatcher implements Dispatcher<Failure> {
  readonly kinds = ['triage.ci'];
  readonly details = details;

  constructor(
    private readonly client: Client,
    private readonly options: ProjectionOptions,
  ) {}

  /** Nothing waits for longer than the debounce; what is lost with Temporal's store in that time is the next failure's. */
  reconcile(): Promise<number> {
    return Promise.resolve(0);
  }

  async dispatch({ subject, correlation_id, team_id, receipt_id }: Failure, { config }: Services): Promise<void> {
    const input: CiTriageInput = { teamId: team_id, debounceMs: config.CI_TRIAGE_SECONDS * 1_000 };
    const attributes = [
      { key: ATTRIBUTE.Process, value: 'ci_triage' },
      { key: ATTRIBUTE.TriggerType, value: 'event' },
      { key: ATTRIBUTE.TeamId, value: team_id },
      { key: ATTRIBUTE.CorrelationId, value: correlation_id },
    ];
    const started = logScope.run({ correlation_id }, () =>
      this.client.workflow.signalWithStart(CI_TRIAGE, {
        workflowId: subject,
        taskQueue: taskQueue(this.options.taskQueuePrefix, 'core'),
        args: [input],
        signal: CI_FAILED_SIGNAL,
        signalArgs: [receipt_id],
        // A run that ended has its plan for good.
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: 'Triage of a failed CI run',
        staticDetails: `- Team \`${team_id}\`\n- Correlation id of the delivery \`${correlation_id}\`, as in the logs and the audit log`,
        ...(this.options.searchable ? { typedSearchAttributes: attributes } : {}),
      }),
    );
    await started.catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    });
  }
}
