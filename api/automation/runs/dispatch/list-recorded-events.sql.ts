import { defineStatement } from '../../../../db/statement.js';

/** Automations whose runs are looked at, and the newest runs of each. */
const MAX_AUTOMATIONS = 20;
const MAX_RUNS = 20;

/**
 * $1 = caller id, $2 = team id or null, $3 = trigger type, $4 = automation id, $5 = row limit. The newest whole events that started the automation or
 * others with its trigger, those of the automation itself first. The caller may read the automation.
 */
export const recordedEventsStatement = defineStatement({
  name: 'list_recorded_events',
  text: /* sql */ `
    select r.run_id, r.automation_id, r.automation_name, r.trigger_type, r.team_id, r.queued_at, r.event from (
      select a.automation_id from automations a
      where a.deleted_at is null and a.trigger_type = $3
        and case when $2::uuid is null then a.team_id is null and a.created_by = $1 else a.team_id = $2 end
      order by a.automation_id = $4 desc, a.automation_id desc limit ${MAX_AUTOMATIONS}
    ) a cross join lateral (
      select n.* from (
        select * from automation_runs n where n.automation_id = a.automation_id order by n.queued_at desc limit ${MAX_RUNS}
      ) n
      where not n.is_test and not n.event_truncated and n.status <> 'skipped' and (n.trigger_type <> 'manual' or $3 = 'manual')
    ) r
    order by r.automation_id = $4 desc, r.queued_at desc limit $5`,
});
