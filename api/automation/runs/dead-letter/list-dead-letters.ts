import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { findSeat } from '../../../platform/access/seats.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { checkRunCursor } from '../record/check-run-cursor.js';
import type { DeadLetterList, ListDeadLetters } from './schema.js';
import { deriveRetryId } from './retry-id.js';
import { deadLettersAfterStatement, listDeadLettersStatement } from './list-dead-letters.sql.js';

type Entry = DeadLetterList['entries'][number];
type Row = Pick<
  Entry,
  | 'run_id'
  | 'automation_id'
  | 'automation_name'
  | 'automation_version'
  | 'team_id'
  | 'trigger_type'
  | 'error'
  | 'event_truncated'
  | 'retry_count'
  | 'failed_actions'
> & { finished_at: Date | null; replay_running: boolean; total: number };

function present({ finished_at, replay_running: isRunning, total: _total, ...row }: Row): Entry {
  const reason = row.event_truncated ? 'event_truncated' : isRunning ? 'replay_running' : null;
  return {
    ...row,
    failed_at: finished_at?.toISOString() ?? null,
    retryable: reason === null,
    not_retryable_reason: reason,
    last_retry_run_id: row.retry_count === 0 ? null : deriveRetryId(row.run_id, row.retry_count),
  };
}

/**
 * Lists failed runs without a successful replay, newest first; those after the run `before`.
 * @throws PERMISSION_DENIED a team that the caller is not in | VALIDATION_ERROR a cursor that is no run of the caller's
 */
export async function listDeadLetters(
  ctx: Context,
  { team_id, limit, before }: ListDeadLetters,
): Promise<CutPage & { body: DeadLetterList }> {
  if (team_id !== undefined) authorize('automation.read', await findSeat(ctx, team_id));
  if (before !== undefined) await checkRunCursor(ctx, before);
  const values = [requireUser(ctx), team_id ?? null, limit + 1];
  const rows = await (before === undefined
    ? run<Row>(ctx.db, listDeadLettersStatement, values)
    : run<Row>(ctx.db, deadLettersAfterStatement, [...values, before]));
  const entries = rows.slice(0, limit).map(present);
  const [count, total] = [entries.length, rows[0]?.total ?? 0];
  const body = { entries, total, showing: count };
  return { body, count, more: rows.length > limit, last: entries.at(-1)?.run_id, total };
}
