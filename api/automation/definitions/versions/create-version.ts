import { raw } from 'objection';
import type { Automation } from '../../../../db/models/automation.js';
import { AutomationVersion } from '../../../../db/models/automation-version.js';
import type { Context } from '../../../platform/context.js';
import { deleteOldVersions } from './delete-old-versions.js';

/**
 * Authors of a new version that repeats actions: those of the previous version if its actions are equal, and of the version
 * restored. A rename or a change of owner does not make other users' actions one's own.
 */
const CO_AUTHORS = /* sql */ `(
  select coalesce(array_agg(distinct author), '{}') from automation_versions old cross join unnest(old.co_authors || old.changed_by) as author
  where old.automation_id = ? and (old.version = ? or (old.version = ? and old.actions = ?::jsonb)) and author <> ?)`;

/** Users who saved the previous version's actions, except the one saving now. */
const KEPT_FROM = /* sql */ `(
  select array_remove(old.actions_kept_from || old.changed_by, ?) from automation_versions old where old.automation_id = ? and old.version = ?)`;

/**
 * Stores a saved definition as a version row and deletes old ones beyond the automation's budgets. Runs are pinned to a version, so
 * later edits never affect them. The caller has locked the automation.
 */
export async function storeVersion(
  ctx: Context,
  automation: Automation,
  changeNote: string | null,
  restoredFrom: number | null = null,
  keepsActions = false,
): Promise<void> {
  await AutomationVersion.query(ctx.db).insert({
    automation_id: automation.automation_id,
    version: automation.version,
    name: automation.name,
    trigger_type: automation.trigger_type,
    trigger_config: automation.trigger_config,
    condition: automation.condition,
    actions: automation.actions,
    schedule_cron: automation.schedule_cron,
    schedule_timezone: automation.schedule_timezone,
    changed_by: automation.updated_by,
    co_authors: raw(CO_AUTHORS, [
      automation.automation_id,
      restoredFrom ?? 0,
      automation.version - 1,
      JSON.stringify(automation.actions),
      automation.updated_by,
    ]) as never,
    ...(keepsActions
      ? { actions_kept_from: raw(KEPT_FROM, [automation.updated_by, automation.automation_id, automation.version - 1]) as never }
      : {}),
    change_note: changeNote,
    restored_from: restoredFrom,
  });
  if (automation.version > 1) await deleteOldVersions(ctx, automation.automation_id);
}
