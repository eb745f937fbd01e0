import type { Automation } from '../../../../db/models/automation/automation.js';
import { run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { storeVersionStatement } from './create-version.sql.js';
import { deleteOldVersions } from './delete-old-versions.js';

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
  const { automation_id, version } = automation;
  await run(ctx.db, storeVersionStatement, [automation_id, restoredFrom, keepsActions, changeNote]);
  if (version > 1) await deleteOldVersions(ctx, automation_id);
}
