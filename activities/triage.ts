import { ScheduleOverlapPolicy } from '@temporalio/client';
import { parseNights } from '../api/automation/triage/nightly.js';
import { type NightlyTeam, nightlyTeamsStatement, nightlyTeamStatement } from '../api/automation/triage/schedules.sql.js';
import { triageFailure } from '../api/automation/triage/triage-failure.js';
import { triageNight } from '../api/automation/triage/triage-night.js';
import { toCalendars } from '../api/automation/definitions/schedule/calendars.js';
import { zoneNamed } from '../api/platform/time-zones.js';
import { defineStatement } from '../db/statement.js';
import {
  CI_FAILED_SIGNAL,
  CI_TRIAGE,
  type CiTriageInput,
  OVERNIGHT_TRIAGE,
  type TriageActivities,
  triageScheduleId,
} from '../workflows/contracts/triage-contract.js';
import { defineRowWorkflow } from './row-workflow.js';
import { defineScheduleProjection } from './schedule-projection.js';

/** How late a night may start after an outage: later it is morning, and the next night comes soon. */
const CATCH_UP = '6 hours';

/** Teams whose overnight triage is enabled. */
export const overnightTriage = defineScheduleProjection<NightlyTeam>({
  note: {
    process: 'overnight_triage',
    workflowId: 'triage:<team_id>-<time>',
    shows: 'Nights of teams; the result says what became of each. The Schedules are `triage:<team_id>`',
  },
  activities: {
    core: (services): Pick<TriageActivities, 'triageNight'> => ({
      triageNight: (teamId, nominalTime) => triageNight(services, teamId, nominalTime),
    }),
  },
  plural: 'teams',
  kind: 'triage.sync',
  key: 'team_id',
  getId: triageScheduleId,
  all: nightlyTeamsStatement,
  one: nightlyTeamStatement,
  parseTimes({ team_id, overnight_cron, overnight_timezone }) {
    const cron = parseNights(team_id, overnight_cron);
    const timezone = zoneNamed(overnight_timezone);
    return cron && timezone !== undefined ? { calendars: toCalendars(cron), timezone } : undefined;
  },
  /** Names the minute too: a Schedule of an earlier version, which added any time up to 20 minutes, differs and is updated. */
  buildNote({ team_id, overnight_cron, overnight_timezone }) {
    const { minute = [] } = parseNights(team_id, overnight_cron) ?? {};
    return `${overnight_cron} (${overnight_timezone}), at minute ${minute.join()} · overnight triage`;
  },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
  workflow: OVERNIGHT_TRIAGE,
  summary: () => 'Overnight triage',
  details: ({ team_id }) =>
    `Team \`${team_id}\`. Proposes changes to tasks that are overdue or that nobody touched; a person confirms them`,
  attributes: ({ team_id }) => ({ TriggerType: 'schedule', TeamId: team_id }),
});

/** A delivery of a failed CI run, for a team. */
interface Row {
  outbox_id: number;
  /** Workflow id. */
  subject: string;
  correlation_id: string;
  team_id: string;
  receipt_id: string;
}

/** $1 = leased rows. */
const dispatches = defineStatement({
  name: 'ci_triage_dispatches',
  text: /* sql */ `
    select outbox_id, subject, correlation_id, payload->>'team_id' as team_id, payload->>'receipt_id' as receipt_id
    from outbox where outbox_id = any($1::bigint[])`,
});

/**
 * The triage of a failed CI run, and its further deliveries. Nothing waits for longer than the debounce, so nothing is restarted: what is lost with
 * Temporal's store in that time is the next failure's.
 */
export const ciTriage = defineRowWorkflow<Row, Row>({
  notes: [{ process: 'ci_triage', workflowId: 'ci:<hash>:<run>', shows: 'Failed CI runs; the result says what became of each' }],
  invariants: [],
  activities: {
    core: (services): Pick<TriageActivities, 'triageFailure'> => ({
      triageFailure: (teamId, receiptId) => triageFailure(services, teamId, receiptId),
    }),
  },
  plural: 'triages',
  kinds: ['triage.ci'],
  dispatches,
  workflow: CI_TRIAGE,
  getId: ({ subject }) => subject,
  input: ({ team_id }, { CI_TRIAGE_SECONDS }): CiTriageInput => ({ teamId: team_id, debounceMs: CI_TRIAGE_SECONDS * 1_000 }),
  attributes: ({ team_id }) => ({ TriggerType: 'event', TeamId: team_id }),
  summary: () => 'Triage of a failed CI run',
  details: ({ team_id, correlation_id }) =>
    `- Team \`${team_id}\`\n- Correlation id of the delivery \`${correlation_id}\`, as in the logs and the audit log`,
  // A run that ended keeps its plan.
  startOptions: () => ({ workflowIdReusePolicy: 'REJECT_DUPLICATE' }),
  deliver: ({ receipt_id }) => ({ start: true, signal: CI_FAILED_SIGNAL, args: [receipt_id] }),
});
