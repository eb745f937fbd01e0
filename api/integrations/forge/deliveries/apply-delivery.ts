import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { connectedAs } from '../../connections/connected-as.js';
import { recordCycleTimes } from '../cycle-time/record-cycle-times.js';
import { findAudience } from './find-audience.js';
import { findLinkedTasks } from '../links/find-linked-tasks.js';
import { findTasksNamedIn } from '../links/named-in-pull-request.js';
import { linkPullRequest } from '../links/link-pull-request.js';
import { publishEvent } from './publish-event.js';
import { normalise } from '../rules.js';
import { syncIssue } from '../links/sync-issue.js';

interface Receipt extends Record<string, unknown> {
  receipt_id: string;
  delivery_id: string;
  event: string | null;
  payload: unknown;
  reason: string | null;
}

interface Verdict {
  outcome: 'applied' | 'ignored' | 'failed';
  reason: string | null;
}

async function apply(service: Context, receipt: Receipt): Promise<Verdict> {
  if (receipt.payload === null) return { outcome: 'failed', reason: 'The payload is no longer kept' };
  const event = normalise(receipt.event ?? '', receipt.payload);
  if (!event) return { outcome: 'ignored', reason: 'Not a listed event' };
  const causeUserIds = await connectedAs(service.db, 'forge', event.payload.sender);
  const ctx: Context = { ...service, actor: { type: 'system', name: 'forge', causeUserIds } };
  const audience = await findAudience(ctx, event, receipt.receipt_id);
  if (!audience) return { outcome: 'ignored', reason: 'No team had bound the repository' };

  const refusals = await syncIssue(ctx, audience.bindings, receipt, event);
  const bound = audience.bindings.map(({ team_id }) => team_id);
  const found = [
    ...(await findLinkedTasks(ctx, event, audience.linkable)),
    ...(await findTasksNamedIn(ctx, event, receipt.payload, bound)),
  ];
  const linked = [...new Map(found.map((task) => [task.task_id, task])).values()];
  const taskIds = linked.map((task) => task.task_id);
  await linkPullRequest(ctx, event, taskIds, audience.linkable);
  await recordCycleTimes(ctx, event, audience);
  await publishEvent(ctx, receipt.receipt_id, event, audience, linked);
  if (refusals.length === 0) return { outcome: 'applied', reason: null };
  return { outcome: 'failed', reason: `Issue sync: ${refusals.join('; ')}` };
}

const lockStatement = defineStatement({
  name: 'lock_forge_delivery',
  text: /* sql */ `
    select receipt_id, delivery_id, event, payload, reason from forge_deliveries
    where receipt_id = $1 and outcome is null for update`,
});
/** $1 = receipt id, $2 = outcome, $3 = reason. */
const finishStatement = defineStatement({
  name: 'finish_forge_delivery',
  text: 'update forge_deliveries set outcome = $2, reason = $3 where receipt_id = $1',
});

/**
 * Applies an accepted delivery in the relay's transaction: issue sync, links, one event for each subscribed team, and the outcome
 * on the receipt. Ignores a delivery that is unknown or already applied.
 * @throws retryable errors; the receipt stores permission errors of issue sync instead, and the events are still published
 */
export function applyDelivery(ctx: Context, receiptId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const [receipt] = await run<Receipt>(ctx.db, lockStatement, [receiptId]);
    if (!receipt) return;
    const { outcome, reason } = await apply(ctx, receipt);
    const reasons = [receipt.reason, reason].filter((part) => part !== null).join('; ');
    await run(ctx.db, finishStatement, [receiptId, outcome, reasons || null]);
  });
}
