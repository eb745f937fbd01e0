import { run as sql, type Statement } from '../../../db/statement.js';
import { type Services, whoIs } from '../../core/context.js';
import type { Change } from '../../core/record-change.js';
import type { RunStatus, SkipReason } from '../rules.js';
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
}

/** $1 run, $2 status, $3 skip reason, $4 error (jsonb), $5 and $6 what `record_change` takes. */
const endStatement: Statement = {
  name: 'end_run',
  text: /* sql */ `
with skipped as (
  update run_actions set status = 'skipped' where run_id = $1 and status in ('pending', 'running', 'staged')
), ended as (
  update automation_runs set status = $2, skip_reason = $3, error = $4::jsonb, finished_at = now() where run_id = $1
)
select record_change($5::jsonb, $6::jsonb)`,
};

/**
 * Writes the end of a run into its rows, inside the transaction that holds the run (`claimRun` or `lockRun`): what has not happened is skipped.
 * The caller has seen that the run is still open.
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
  const traces = [JSON.stringify(whoIs(systemContext(services, run))), JSON.stringify(change)];
  await sql(services.db, endStatement, [run_id, end.status, end.skipReason ?? null, end.error ?? null, ...traces]);
}
