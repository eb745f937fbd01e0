import type { Automation } from '../../../db/models/automation/automation.js';
import { run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { lockAutomation } from '../definitions/lock-automation.js';
import { removeHookStatement } from './remove-hook.sql.js';
import { recordHookChange } from './record-hook-change.js';

/** Removes the address that an automation may have. Returns whether it had one. The caller has locked the automation and checked the right to change it. */
export async function dropAddress(ctx: Context, automation: Automation): Promise<boolean> {
  const removed = await run(ctx.db, removeHookStatement, [automation.automation_id]);
  if (removed.length > 0) await recordHookChange(ctx, automation, 'revoke');
  return removed.length > 0;
}

/**
 * Removes the address of an automation: calls get 404 from then on. Runs that it started go on.
 * @throws RESOURCE_NOT_FOUND no such automation, or it has no address | PERMISSION_DENIED as for a change
 */
export function removeAddress(ctx: Context, automationId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const automation = await lockAutomation(ctx, 'automation.write', automationId);
    if (!(await dropAddress(ctx, automation))) throw notFound('Address');
  });
}
