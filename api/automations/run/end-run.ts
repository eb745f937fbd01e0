import type { Services } from '../../core/context.js';
import { recordChange } from '../../core/record-change.js';
import type { RunStatus, SkipReason } from '../rules.js';
import { type RunRow, systemContext } from './load-run.js';

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

/**
 * Writes the end of a run into its rows, inside the transaction that holds the run (`lockRun`): what has not happened is skipped.
 * The caller has seen that the run is still open.
 */
export async function endRun(services: Services, run: RunRow, end: End): Promise<void> {
  const { db } = services;
  const { run_id, team_id, project_id } = run;
  await db('run_actions').where({ run_id }).whereIn('status', ['pending', 'running', 'staged']).update({ status: 'skipped' });
  await db('automation_runs')
    .where({ run_id })
    .update({
      status: end.status,
      skip_reason: end.skipReason ?? null,
      error: end.error ? JSON.stringify(end.error) : null,
      finished_at: db.fn.now(),
    });
  await recordChange(systemContext(services, run), {
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
    details: { status: end.status, automation_id: run.automation_id, automation_version: run.automation_version, ...end.details },
  });
}
