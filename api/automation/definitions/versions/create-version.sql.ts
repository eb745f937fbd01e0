import { defineStatement } from '../../../../db/statement.js';

/**
 * Authors of a new version that repeats actions: those of the previous version if its actions are equal, and of the version
 * restored. A rename or a change of owner does not make other users' actions one's own.
 */
const CO_AUTHORS = /* sql */ `(
  select coalesce(array_agg(distinct author), '{}') from automation_versions old cross join unnest(old.co_authors || old.changed_by) as author
  where old.automation_id = a.automation_id and (old.version = coalesce($2, 0) or (old.version = a.version - 1 and old.actions = a.actions))
    and author <> a.updated_by)`;

/** Users who saved the previous version's actions, except the one saving now. */
const KEPT_FROM = /* sql */ `(
  select array_remove(old.actions_kept_from || old.changed_by, a.updated_by) from automation_versions old
  where old.automation_id = a.automation_id and old.version = a.version - 1)`;

/**
 * Stores an automation's row as its version. $1 = automation id, $2 = version restored or null, $3 = whether it keeps the previous version's actions,
 * $4 = change note or null.
 */
export const storeVersionStatement = defineStatement({
  name: 'store_version',
  text: /* sql */ `
    insert into automation_versions (automation_id, version, name, trigger_type, trigger_config, condition, actions, schedule_cron,
      schedule_timezone, changed_by, co_authors, actions_kept_from, change_note, restored_from)
    select a.automation_id, a.version, a.name, a.trigger_type, a.trigger_config, a.condition, a.actions, a.schedule_cron,
      a.schedule_timezone, a.updated_by, ${CO_AUTHORS}, case when $3 then ${KEPT_FROM} else '{}' end, $4, $2
    from automations a where a.automation_id = $1`,
});
