import { AutomationVersion } from '../../../../db/models/automation/automation-version.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { assertActionsAllowed } from '../../secrets/assert-actions-allowed.js';
import { missingSecrets } from '../../secrets/vault.js';
import { secretHandles } from '../../actions/secret-handles.js';
import { checkDefinition } from '../check-definition.js';
import { getAutomation } from '../get-automation.js';
import { lockAutomation } from '../lock-automation.js';
import { saveDefinition } from '../save-definition.js';
import { versionNotFound } from './list-versions.js';
import type { RollBack, RolledBack } from './schema.js';

/**
 * Restores an earlier definition as a new version. Running runs keep their version, and `is_active` stays.
 * @throws RESOURCE_NOT_FOUND automation or version | PERMISSION_DENIED another user's automation needs a manager, some secrets an
 * admin | RESOURCE_CONFLICT it names deleted secrets | INVALID_REQUEST the definition is no longer valid
 */
export function rollBack(ctx: Context, automationId: string, { version: wanted, force }: RollBack): Promise<RolledBack> {
  return inTransaction(ctx, async (ctx) => {
    const before = await lockAutomation(ctx, 'automation.write', automationId);
    const old = await AutomationVersion.query(ctx.db).findById([automationId, wanted]);
    if (!old) throw versionNotFound(wanted, before.version);
    const { name, trigger_type, trigger_config } = old;
    const { condition, actions, ...schedule } = checkDefinition({
      trigger_type,
      condition: old.condition,
      schedule_cron: old.schedule_cron,
      schedule_timezone: old.schedule_timezone,
      actions: old.actions.map((action) => ({ ...action })),
      team_id: before.team_id,
    });
    await assertActionsAllowed(ctx, before.team_id, actions);
    const missing = before.team_id === null ? [] : await missingSecrets(ctx, before.team_id, secretHandles(actions));
    if (missing.length > 0 && !force) {
      const detail = `Missing secrets: ${missing.join(', ')}`;
      throw conflict('This version references secrets that do not exist', { detail, extra: { missing_secrets: missing } });
    }
    const fields = { name, trigger_type, trigger_config, condition, actions, ...schedule };
    const { version } = await saveDefinition(ctx, before, fields, {
      restored_from: wanted,
      change_note: `Back to version ${wanted}`,
      trace: {
        action: 'rollback',
        summary: `rolled the automation back to version ${wanted}`,
        details: { restored_from: wanted },
      },
    });
    return { automation: await getAutomation(ctx, automationId), version, restored_from: wanted, missing_secrets: missing };
  });
}
