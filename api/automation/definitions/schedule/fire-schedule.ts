import { v5 as uuidv5 } from 'uuid';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { evaluateCondition } from '../../language/condition.js';
import { conditionScope } from '../../language/condition-scope.js';
import type { Automation } from '../../../../db/models/automation/automation.js';
import { createRuns } from '../../runs/record/create-run.js';
import { isSkipped, recordSkipped, deriveSkippedId } from '../../runs/record/record-skipped.js';
import { parseCron } from './cron.js';
import { countsAs, matchesCron } from './next-times.js';
import { newId } from '../../../platform/ids.js';
import { scopeCorrelation } from '../../../platform/telemetry/log.js';

type ScheduledAutomation = Pick<
  Automation,
  'automation_id' | 'name' | 'team_id' | 'project_id' | 'condition' | 'version' | 'enabled_by'
> &
  Record<string, unknown> & { schedule_cron: string; schedule_timezone: string; project: object | null; is_missed: boolean };

/**
 * Maximum lateness of a run: after a longer outage, missed times do not fire all at once (docs/decisions/automation.md#missed-schedules).
 */
export const CATCH_UP_MINUTES = 10;

/** $1 = automation id, $2 = nominal time. Selects an enabled automation whose project is not in the trash. */
const statement = defineStatement({
  name: 'scheduled_automation',
  text: /* sql */ `
    select a.automation_id, a.name, a.team_id, a.project_id, a.created_by, a.trigger_type, a.condition, a.version, a.enabled_by, a.schedule_cron,
      a.schedule_timezone, $2::timestamptz < now() - interval '${CATCH_UP_MINUTES} minutes' as is_missed,
      case when p.project_id is not null
        then json_build_object('project_id', p.project_id, 'name', p.name, 'status', p.status) end as project
    from automations a left join projects p using (project_id)
    where a.automation_id = $1 and a.is_active and a.deleted_at is null and a.trigger_type = 'schedule'
      and (a.project_id is null or p.deleted_at is null)`,
});

/** A nominal time as it counts, and the id of its run. */
interface ScheduledRun {
  run_id: string;
  at: Date;
}

/**
 * Derives the run's id from automation and time, so that no time fires twice. Undefined if the schedule does not contain the
 * time: a schedule that has just changed may still fire at an old one.
 */
function countMissed(
  { automation_id, schedule_cron, schedule_timezone }: ScheduledAutomation,
  nominal: Date,
): ScheduledRun | undefined {
  const parsed = parseCron(schedule_cron);
  if (!parsed.ok || !matchesCron(parsed.cron, schedule_timezone, nominal)) return undefined;
  const at = countsAs(parsed.cron, schedule_timezone, nominal);
  return { run_id: uuidv5(`schedule:${at.toISOString()}`, automation_id), at };
}

/**
 * Creates the run of one nominal time from the automation's current row; the Temporal Schedule only reports the time. Returns the
 * outcome for the operator.
 */
export async function fireSchedule(services: Services, automationId: string, nominalTime: string): Promise<string> {
  const nominal = new Date(nominalTime);
  const [automation] = await run<ScheduledAutomation>(services.db, statement, [automationId, nominalTime]);
  if (!automation) return 'nothing to do: the automation is not enabled';
  const counted = countMissed(automation, nominal);
  if (!counted) return 'nothing to do: no longer a time of the schedule';
  if (automation.is_missed) return `nothing to do: missed by more than ${CATCH_UP_MINUTES} minutes`;
  const { team_id, project_id, condition, project } = automation;
  const { run_id } = counted;
  const occurred_at = nominal.toISOString();
  const event = {
    type: 'schedule',
    event_id: run_id,
    occurred_at,
    scheduled_for: occurred_at,
    team_id,
    project_id,
    actor_id: null,
  };
  const scope = conditionScope(event, { project, actor: null, now: new Date() });
  const verdict = condition === null ? { matched: true, error: null } : evaluateCondition(condition, scope);
  const created = await record(services, automation, { ...counted, event }, verdict);
  services.notifyRelay();
  if (!created) return `nothing to do: ${occurred_at} already started run ${run_id}`;
  return verdict.matched ? `run ${run_id}` : `skipped: the condition is false (run ${deriveSkippedId(run_id, counted.at)})`;
}

/** Creates the run, or records that its condition skipped it. Returns false if an earlier attempt did either. */
async function record(
  services: Services,
  automation: ScheduledAutomation,
  { run_id, at, event }: ScheduledRun & { event: Record<string, unknown> },
  { matched, error }: { matched: boolean; error: string | null },
): Promise<boolean> {
  const skippedId = deriveSkippedId(run_id, at);
  if (matched) {
    if (await isSkipped(services, skippedId)) return false;
    const cause = {
      trigger_type: 'schedule',
      depth: 0,
      cause_user_ids: automation.enabled_by,
      correlation_id: scopeCorrelation() ?? newId(),
    };
    const one = { run_id, automation, event, ...cause };
    return (await createRuns(services, [one], null)).length > 0;
  }
  const { automation_id, version: automation_version } = automation;
  const about = { automation_id, automation_version, triggered_by: null, depth: 0, condition_error: error };
  return (await recordSkipped(services, [{ ...about, run_id: skippedId, skip_reason: 'condition_false' }])) > 0;
}
