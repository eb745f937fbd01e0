import { type Context, inTransaction } from '../core/context.js';
import { deleteAutomationRow } from './delete-automation-row.js';
import { lockAutomation } from './lock-automation.js';

/**
 * Deletes an automation for good and cancels its runs that are queued, paused or waiting; all its runs stay readable.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another person's automation needs a manager, a protected one an admin
 */
export function deleteAutomation(ctx: Context, automationId: string): Promise<{ cancelledRuns: number }> {
  return inTransaction(ctx, async (ctx) => {
    // A run that is just being created is waited for, so it is seen here or never created. The runs are locked after the automation.
    const automation = await lockAutomation(ctx, 'automation.write', automationId);
    return { cancelledRuns: await deleteAutomationRow(ctx, automation) };
  });
}
