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
