import { Automation } from '../../db/models/automation.js';
import { type Context, inTransaction, userOf } from '../core/context.js';
import { notFound } from '../core/errors.js';
import { seatOf } from '../core/seats.js';
import { endAutomation } from './end-automation.js';
import { authorizeOwn } from './policy.js';

/**
 * Deletes an automation for good and cancels its runs that are queued, paused or waiting; all its runs stay readable.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED another person's automation needs a manager
 * Source: decision F1; durability notes, 3.2.
 */
export function deleteAutomation(ctx: Context, automationId: string): Promise<{ cancelledRuns: number }> {
  return inTransaction(ctx, async (ctx) => {
    // A run that is just being created holds the row FOR SHARE, so it is seen here or never made. Not FOR UPDATE: a step of a run holds
    // the run and then, by its foreign key, the automation FOR KEY SHARE, while here the runs come second.
    const automation = await Automation.query(ctx.db).findById(automationId).modify('live').forNoKeyUpdate();
    if (!automation) throw notFound('Automation');
    authorizeOwn('automation.write', automation, {
      userId: userOf(ctx),
      seat: automation.team_id === null ? null : await seatOf(ctx, automation.team_id),
    });
    return { cancelledRuns: await endAutomation(ctx, automation) };
  });
}
