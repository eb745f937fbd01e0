import { defineStatement } from '../../../db/statement.js';

/** Maximum rows that one statement deletes. */
export const BATCH = 1_000;

/**
 * $1 = days that a skipped run is kept, $2 = those of any other. Their actions, gates and effects are deleted with them; the audit
 * log remains. Replays and replayed runs that remain only lose the reference. Returns, per automation, the number of runs deleted
 * and the old versions that they referred to.
 */
export const deleteExpiredRunsStatement = defineStatement({
  name: 'delete_expired_runs',
  text: /* sql */ `
with deleted as (
  delete from automation_runs where run_id in (
    select run_id from automation_runs
    where finished_at < now() - make_interval(days => case when status = 'skipped' then $1::int else $2::int end) limit ${BATCH})
  returning automation_id, automation_version
)
select d.automation_id, count(*)::int as runs,
  coalesce(array_agg(distinct d.automation_version) filter (where d.automation_version < a.version), '{}') as versions
from deleted d join automations a using (automation_id) group by d.automation_id`,
});

/** $1 = days. A UUIDv7 begins with its time: the primary key finds what is expired. */
export const deleteSkippedStatement = defineStatement({
  name: 'delete_skipped_runs',
  text: /* sql */ `
    with deleted as (
      delete from skipped_runs where run_id in (
        select run_id from skipped_runs where run_id < uuid_at(now() - make_interval(days => $1)) limit ${BATCH})
      returning run_id
    ) select count(*)::int as rows from deleted`,
});

/** Counts of hours that are over; the day before stays, for a look at what happened. */
export const deleteBudgetsStatement = defineStatement({
  name: 'delete_skipped_run_budgets',
  text: /* sql */ `
    with deleted as (
      delete from skipped_run_budgets where (hour, owner_id) in (
        select hour, owner_id from skipped_run_budgets where hour < now() - interval '2 days' limit ${BATCH})
      returning owner_id
    ) select count(*)::int as rows from deleted`,
});
