import { defineStatement, type Statement } from '../../../../db/statement.js';
import { visibleAutomations } from '../../definitions/automation-record.sql.js';

/** Runs r that follow the run $4 in the list. */
const AFTER = 'and (r.finished_at, r.run_id) < (select l.finished_at, l.run_id from automation_runs l where l.run_id = $4)';

/**
 * $1 = caller id, $2 = team id or null, $3 = row limit. Omits test runs, runs replayed with success, and runs of deleted
 * automations. Reads the newest runs of each visible automation from an index; the total is a counter beside the automation.
 */
const buildStatement = (name: string, after: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with mine as materialized (
      select a.automation_id, c.dead from (${visibleAutomations('a.deleted_at is null and ($2::uuid is null or a.team_id = $2)')}) a
      cross join lateral (
        select sum(c.dead_letters) as dead from automation_counts c where c.automation_id = a.automation_id
      ) c where c.dead > 0
    ), newest as materialized (
      select r.run_id from mine cross join lateral (
        select r.run_id, r.finished_at from automation_runs r
        where r.automation_id = mine.automation_id and r.status = 'failed' and not r.is_test and r.retried_by is null ${after}
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
  });
export const listDeadLettersStatement = buildStatement('list_dead_letters', '');
export const deadLettersAfterStatement = buildStatement('list_dead_letters_after', AFTER);
