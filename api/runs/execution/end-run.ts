import { run as sql, type Statement } from '../../../db/statement.js';
import { type Services, callerJson } from '../../core/context.js';
import type { Change } from '../../core/record-change.js';
import { IS_LEFT, CLOSE_STEP } from './close-steps.sql.js';
import type { RunStatus, SkipReason } from '../rules.js';
import type { Effect } from '../../actions/action-type.js';
import { EFFECT, effectValues, perEntity, assertSameTeam } from './effect.sql.js';
import { type RunRow, systemContext } from './load-run.js';
import { runEvent } from './publish.js';

interface End {
  status: RunStatus;
  skipReason?: SkipReason | null;
  error?: { code: string; message: string } | null;
  /** What the audit entry and the activity line say. */
  feature: 'automations' | 'approvals';
  action: 'execute' | 'expire';
  summary: string;
  details?: Record<string, unknown>;
  last?: LastEffect | undefined;
}

/** What the action did with which the run ends: it is marked done by the same statement. */
export interface LastEffect {
  index: number;
  effect: Effect;
}

/** The end of a run: from $`first` on the status, the skip reason, the error (jsonb), and what `record_change` takes. $1 is the run. */
const END = (first: number, others: string): string => /* sql */ `left_steps as (
  update run_actions a set ${CLOSE_STEP} where a.run_id = $1 and ${IS_LEFT} ${others}
), ended as (
  update automation_runs set status = $${first}, skip_reason = $${first + 1}, error = $${first + 2}::jsonb, finished_at = now()
  where run_id = $1
)
select record_change($${first + 3}::jsonb, $${first + 4}::jsonb)`;

const endStatement: Statement = { name: 'end_run', text: `with ${END(2, '')}` };
/** With the last action's mark. A row is written once in a statement: that action is not among what is skipped. */
const endStatements = perEntity(
  'end_run_with',
  (sameTeamSql) => `with ${EFFECT}, ${END(7, 'and a.index <> $2')}, ${sameTeamSql}`,
);

/**
 * Writes the end of a run into its rows, inside the transaction that holds the run (`claimRun` or `lockRun`): what has not happened
 * is skipped (left-steps.sql.ts). The caller has seen that the run is still open.
 * @throws FORBIDDEN when the last action acted in another team
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
