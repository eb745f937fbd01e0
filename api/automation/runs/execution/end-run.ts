import { defineStatement, run as sql } from '../../../../db/statement.js';
import { type Services, callerJson } from '../../../platform/context.js';
import type { Change } from '../../../platform/changes/record-change.js';
import { IS_LEFT, CLOSE_STEP } from '../record/close-steps.sql.js';
import type { RunStatus, SkipReason } from '../record/rules.js';
import type { Effect } from '../../../gate/contract/action-type.js';
import { EFFECT, effectValues, perEntity, assertSameTeam } from './effect.sql.js';
import { type RunRow, systemContext } from './load-run.js';
import { runEvent } from './publish.js';

interface End {
  status: RunStatus;
  skipReason?: SkipReason | null;
  error?: { code: string; message: string } | null;
  /** For the audit entry and the activity line. */
  feature: 'automations' | 'approvals';
  action: 'execute' | 'expire';
  summary: string;
  details?: Record<string, unknown>;
  last?: LastEffect | undefined;
}

/** The effect of the run's last action; the statement that ends the run marks it. */
export interface LastEffect {
  index: number;
  effect: Effect;
}

/** Ends a run: $1 = run id; from $`first` on: status, skip reason, error (jsonb) and the two arguments of `record_change`. */
const END = (first: number, others: string): string => /* sql */ `left_steps as (
  update run_actions a set ${CLOSE_STEP} where a.run_id = $1 and ${IS_LEFT} ${others}
), ended as (
  update automation_runs set status = $${first}, skip_reason = $${first + 1}, error = $${first + 2}::jsonb, finished_at = now()
  where run_id = $1
)
select record_change($${first + 3}::jsonb, $${first + 4}::jsonb)`;

const endStatement = defineStatement({ name: 'end_run', text: `with ${END(2, '')}` });
/** Also marks the last action. A statement may update a row only once, so the skipped actions exclude that one. */
const endStatements = perEntity(
  'end_run_with',
  (sameTeamSql) => `with ${EFFECT}, ${END(7, 'and a.index <> $2')}, ${sameTeamSql}`,
);

/**
 * Ends a run in the transaction that has locked it (`claimRun` or `lockRun`) and closes its unfinished steps
 * (close-steps.sql.ts). The caller has checked that the run is open.
 * @throws FORBIDDEN if the last action acted in another team
 */
export async function endRun(services: Services, run: RunRow, end: End): Promise<void> {
  const { run_id, team_id, project_id } = run;
  const change: Change = {
    team_id,
    project_id,
    feature: end.feature,
    action: end.action,
    severity: 'MEDIUM',
    outcome: end.status === 'failed' ? 'failure' : 'success',
    entity_type: 'automation_run',
    entity_id: run_id,
    title: run.automation_name,
    summary: end.summary,
    ...(end.status === 'failed' && !run.is_test
      ? { event: runEvent('automation.run_failed', run, { error: end.error ?? null }) }
      : {}),
    details: { status: end.status, automation_id: run.automation_id, automation_version: run.automation_version, ...end.details },
  };
  const traces = [JSON.stringify(callerJson(systemContext(services, run))), JSON.stringify(change)];
  const values = [end.status, end.skipReason ?? null, end.error ?? null, ...traces];
  if (end.last) {
    const { index, effect } = end.last;
    const statement = endStatements[effect.entity_type];
    assertSameTeam(await sql(services.db, statement, [...effectValues(run, index, effect), ...values]));
  } else await sql(services.db, endStatement, [run_id, ...values]);
}
