import type { Automation } from '../../db/models/automation.js';
import { AutomationVersion } from '../../db/models/automation-version.js';
import type { Context } from '../core/context.js';

/** Keeps what was saved as a version row: runs are pinned to it, so later edits never reach them (F7, F8). */
export async function storeVersion(
  ctx: Context,
  automation: Automation,
  changeNote: string | null,
  restoredFrom: number | null = null,
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
    change_note: changeNote,
    restored_from: restoredFrom,
  });
}
