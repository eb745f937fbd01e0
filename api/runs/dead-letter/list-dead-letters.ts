import { run, type Statement } from '../../../db/statement.js';
import { authorize } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { seatOf } from '../../core/seats.js';
import { visibleAutomations } from '../../automations/automation-record.js';
import type { DeadLetterList, ListDeadLetters } from './schema.js';
import { retryIdOf } from './retry-id.js';

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

/**
 * $1 = caller id, $2 = team id or null, $3 = row limit. Omits test runs, runs replayed with success, and runs of deleted
 * automations. Reads the newest runs of each visible automation from an index; the total is a counter beside the automation.
 */
const statement: Statement = {
  name: 'list_dead_letters',
  text: /* sql */ `
    with mine as materialized (
      select a.automation_id, c.dead from (${visibleAutomations('a.deleted_at is null and ($2::uuid is null or a.team_id = $2)')}) a
      cross join lateral (
        select sum(c.dead_letters) as dead from automation_counts c where c.automation_id = a.automation_id
      ) c where c.dead > 0
    ), newest as materialized (
      select r.run_id from mine cross join lateral (
        select r.run_id, r.finished_at from automation_runs r
        where r.automation_id = mine.automation_id and r.status = 'failed' and not r.is_test and r.retried_by is null
        order by r.finished_at desc, r.run_id desc limit $3
      ) r
      order by r.finished_at desc, r.run_id desc limit $3
    )
    select r.run_id, r.automation_id, r.automation_name, r.automation_version, r.team_id, r.trigger_type, r.finished_at, r.error,
      r.event_truncated, r.retry_count, (select sum(dead)::int from mine) as total,
      exists (select from automation_runs o where o.first_run_id = coalesce(r.first_run_id, r.run_id)
        and o.first_run_id is not null -- lets the planner use the index on replays instead of the one on open runs
        and o.finished_at is null) as replay_running,
      (select coalesce(json_agg(json_build_object('index', f.index, 'type', f.type, 'error', f.error) order by f.index), '[]')
        from run_actions f where f.run_id = r.run_id and f.status = 'failed') as failed_actions
    from automation_runs r where r.run_id = any(array(select run_id from newest))
    order by r.finished_at desc, r.run_id desc`,
};

function present({ finished_at, replay_running: isRunning, total: _total, ...row }: Row): Entry {
  const reason = row.event_truncated ? 'event_truncated' : isRunning ? 'replay_running' : null;
  return {
    ...row,
    failed_at: finished_at?.toISOString() ?? null,
    retryable: reason === null,
    not_retryable_reason: reason,
    last_retry_run_id: row.retry_count === 0 ? null : retryIdOf(row.run_id, row.retry_count),
  };
}

/**
 * Lists failed runs without a successful replay, newest first.
 * @throws PERMISSION_DENIED a team that the caller is not in
 */
export async function listDeadLetters(ctx: Context, { team_id, limit }: ListDeadLetters): Promise<DeadLetterList> {
  if (team_id !== undefined) authorize('automation.read', await seatOf(ctx, team_id));
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), team_id ?? null, limit]);
  return { entries: rows.map(present), total: rows[0]?.total ?? 0, showing: rows.length };
}
