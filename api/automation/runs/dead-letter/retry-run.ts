import { Automation } from '../../../../db/models/automation/automation.js';
import { AutomationRun } from '../../../../db/models/automation/automation-run.js';
import { AutomationVersion } from '../../../../db/models/automation/automation-version.js';
import { RunAction } from '../../../../db/models/automation/run-action.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { isAllowed } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, forbidden, invalid, notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { findSeat } from '../../../platform/access/seats.js';
import { assertActionsAllowed } from '../../secrets/assert-actions-allowed.js';
import { listWanted } from '../execution/answers.js';
import { createRun } from '../record/create-run.js';
import { authorizeManage } from '../../definitions/policy.js';
import { deriveRetryId } from './retry-id.js';
import { actionsToSkip } from './rules.js';
import type { RetriedRun, RetryRun } from './schema.js';

const running = () => conflict('A replay of this run is already in progress');

/**
 * Rejects a replay of an earlier version of a protected automation unless the caller is an admin: that version may lack the gate.
 * @throws PERMISSION_DENIED
 */
async function checkProtected(ctx: Context, automation: Automation, version: AutomationVersion): Promise<void> {
  if (!automation.is_protected || automation.team_id === null || version.version === automation.version) return;
  if (isAllowed('automation.protect', await findSeat(ctx, automation.team_id))) return;
  throw forbidden('The automation is protected; only team admins can replay an earlier version');
}

/**
 * Locks the failed run and returns it with its live automation.
 * @throws RESOURCE_NOT_FOUND no such run, or it is no dead letter | PERMISSION_DENIED
 */
async function lockDeadLetter(ctx: Context, runId: string): Promise<{ failed: AutomationRun; automation: Automation }> {
  const failed = await AutomationRun.query(ctx.db).findById(runId).forUpdate();
  if (!failed) throw notFound('Run');
  const { team_id, creator_id: created_by } = failed;
  const seat = team_id === null ? null : await findSeat(ctx, team_id);
  authorizeManage('automation.dispatch', { team_id, created_by }, { userId: requireUser(ctx), seat });
  const automation = await Automation.query(ctx.db).findById(failed.automation_id).modify('live');
  if (!automation || failed.status !== 'failed' || failed.is_test || failed.retried_by) throw notFound('Dead letter');
  return { failed, automation };
}

/** $1 = id of the first run. */
const lockStatement = defineStatement({
  name: 'lock_replays',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
});

/**
 * Serializes the replays of one failure and rejects a second one while the first is running. Replays of different runs lock
 * different rows, and the first run may have been deleted, so the advisory lock is on its id.
 * @throws RESOURCE_CONFLICT
 */
async function lockReplays({ db }: Context, firstRunId: string): Promise<void> {
  await run(db, lockStatement, [firstRunId]);
  const open = await AutomationRun.query(db)
    .where({ first_run_id: firstRunId })
    .whereNull('finished_at')
    .select('run_id')
    .first();
  if (open) throw running();
}

const findVersion = async (ctx: Context, automationId: string, version: number): Promise<AutomationVersion> =>
  await AutomationVersion.query(ctx.db).findById([automationId, version]).throwIfNotFound();

/** Returns the indexes in `next` that a replay of only the failed actions skips. */
async function skippedIndexes(ctx: Context, failed: AutomationRun, next: AutomationVersion): Promise<number[]> {
  const first = await findVersion(ctx, failed.automation_id, failed.automation_version);
  const rows = await RunAction.query(ctx.db).where({ run_id: failed.run_id }).select('index', 'status');
  const statuses = new Map(rows.map(({ index, status }) => [index, status]));
  const before = first.actions.map((action, index) => ({ ...action, status: statuses.get(index) ?? 'pending' }));
  return actionsToSkip(before, next.actions, (index) => listWanted(next.actions, index).length > 0);
}

/**
 * Replays a failed run as a new run on the same event. The failed run and its failed replays stay on the list until one replay
 * succeeds (docs/decisions/automation.md#replays).
 * @throws RESOURCE_NOT_FOUND no dead letter | PERMISSION_DENIED neither the creator nor a manager; below admin, an earlier
 * version of a protected automation, or a secret that only admins may use | INVALID_REQUEST the stored event was truncated |
 * RESOURCE_CONFLICT a replay is running
 */
export function retryRun(ctx: Context, runId: string, options: RetryRun): Promise<RetriedRun> {
  return inTransaction(ctx, async (ctx) => {
    const { failed, automation } = await lockDeadLetter(ctx, runId);
    if (failed.event_truncated) throw invalid('The event of this run was truncated and cannot be replayed');
    const first_run_id = failed.first_run_id ?? runId;
    await lockReplays(ctx, first_run_id);
    const { version: which, actions: scope } = options;
    const version = await findVersion(
      ctx,
      failed.automation_id,
      which === 'original' ? failed.automation_version : automation.version,
    );
    await assertActionsAllowed(ctx, failed.team_id, version.actions);
    await checkProtected(ctx, automation, version);
    const n = failed.retry_count + 1;
    const retryId = deriveRetryId(runId, n);
    const created = await createRun(ctx, {
      run_id: retryId,
      automation,
      version_row: version,
      event: failed.event,
      trigger_type: failed.trigger_type,
      depth: failed.depth,
      triggered_by: requireUser(ctx),
      cause_user_ids: failed.triggered_by === null ? failed.cause_user_ids : [...failed.cause_user_ids, failed.triggered_by],
      replay: { retry_of: runId, first_run_id },
      skip_indexes: scope === 'failed' ? await skippedIndexes(ctx, failed, version) : [],
    });
    if (!created) throw running();
    await failed.$query(ctx.db).patch({ retry_count: n });
    await recordChange(ctx, {
      team_id: failed.team_id,
      project_id: failed.project_id,
      feature: 'automations',
      action: 'retry',
      severity: 'MEDIUM',
      entity_type: 'automation_run',
      entity_id: runId,
      title: failed.automation_name,
      summary: `replayed a failed run of ${failed.automation_name}`,
      details: { retry_run_id: retryId, automation_version: version.version, actions: scope ?? 'all' },
    });
    return { success: true, run_id: retryId, retry_of: runId, automation_version: version.version, status: 'queued' };
  });
}
