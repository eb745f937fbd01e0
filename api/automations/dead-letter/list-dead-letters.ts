import { run, type Statement } from '../../../db/statement.js';
import { authorize } from '../../core/access.js';
import { type Context, userOf } from '../../core/context.js';
import { seatOf } from '../../core/seats.js';
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

/** $1 caller, $2 team or null, $3 most rows. A test run, a run replayed with success, one of a deleted automation: none of them. */
const statement: Statement = {
  name: 'list_dead_letters',
  text: /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.automation_version, r.team_id, r.trigger_type, r.finished_at, r.error,
      r.event_truncated, r.retry_count, (count(*) over ())::int as total,
      exists (select from automation_runs o where o.first_run_id = coalesce(r.first_run_id, r.run_id)
        and o.first_run_id is not null -- plain to see that only replays are looked at, not all that wait
        and o.finished_at is null) as replay_running,
      (select coalesce(json_agg(json_build_object('index', f.index, 'type', f.type, 'error', f.error) order by f.index), '[]')
        from run_actions f where f.run_id = r.run_id and f.status = 'failed') as failed_actions
    from automation_runs r join automations a using (automation_id)
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where r.status = 'failed' and not r.is_test and r.retried_by is null and a.deleted_at is null
      and (m.role is not null or (r.team_id is null and r.creator_id = $1)) and ($2::uuid is null or r.team_id = $2)
    order by r.finished_at desc, r.run_id desc limit $3`,
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
 * Failed runs that nobody has replayed with success, newest first.
 * @throws PERMISSION_DENIED a team that the caller is not in
 * Source: contract, section 4, automations; decision F10.
 */
export async function listDeadLetters(ctx: Context, { team_id, limit }: ListDeadLetters): Promise<DeadLetterList> {
  if (team_id !== undefined) authorize('automation.read', await seatOf(ctx, team_id));
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), team_id ?? null, limit]);
  return { entries: rows.map(present), total: rows[0]?.total ?? 0, showing: rows.length };
}
