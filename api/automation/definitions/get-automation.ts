import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import type { AutomationRow } from './automation-record.js';
import { SELECT_AUTOMATIONS } from './automation-record.sql.js';
import { authorizeAccess } from './policy.js';
import { presentAutomation } from './present.js';
import type { AutomationRecord } from './schema.js';

/** $1 = caller id, $2 = automation id. */
const statement = defineStatement({
  name: 'get_automation',
  text: `${SELECT_AUTOMATIONS} where a.automation_id = $2 and a.deleted_at is null`,
});

/**
 * Returns one automation.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a non-member, or another user's personal automation
 */
export async function getAutomation(ctx: Context, automationId: string): Promise<AutomationRecord> {
  const userId = requireUser(ctx);
  const [row] = await run<AutomationRow>(ctx.db, statement, [userId, automationId]);
  if (!row) throw notFound('Automation');
  authorizeAccess('automation.read', row, { userId, seat: row.seat });
  return presentAutomation(row);
}
