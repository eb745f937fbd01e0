import { type Context, inTransaction } from '../../platform/context.js';
import { deleteAutomationRow } from './delete-automation-row.js';
import { lockAutomation } from './lock-automation.js';

/**
 * Deletes an automation permanently and cancels its queued, paused or waiting runs; all its runs stay readable.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another user's automation needs a manager, a protected one an admin
 */
export function deleteAutomation(ctx: Context, automationId: string): Promise<{ cancelledRuns: number }> {
  return inTransaction(ctx, async (ctx) => {
    // Waits for a concurrent creation of a run, which is then cancelled here or never created. Lock order: automation, then runs.
    const automation = await lockAutomation(ctx, 'automation.write', automationId);
    return { cancelledRuns: await deleteAutomationRow(ctx, automation) };
  });
}
