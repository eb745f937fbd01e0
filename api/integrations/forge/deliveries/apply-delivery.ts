import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { connectedAs } from '../../connections/connected-as.js';
import { recordCycleTimes } from '../cycle-time/record-cycle-times.js';
import { findAudience } from './find-audience.js';
import { findLinkedTasks } from '../links/find-linked-tasks.js';
import { findTasksNamedIn } from '../links/named-in-delivery.js';
import { linkPullRequest } from '../links/link-pull-request.js';
import { publishEvent } from './publish-event.js';
import { normalise } from '../rules.js';
import { syncIssue } from '../links/sync-issue.js';

/** Where a delivery came: signed by the operator's secret, or to the address of a binding. */
export type Origin = 'forge.delivery' | 'forge.address_delivery';

interface Receipt extends Record<string, unknown> {
  receipt_id: string;
  delivery_id: string;
  event: string | null;
  payload: unknown;
  reason: string | null;
  /** As text, which keeps its microseconds. */
  received_at: string;
  /** The only team that it reaches; null for every team that has bound the repository. */
  team_id: string | null;
  /** Users who could have signed it, if they are known. */
  held_by: string[];
}

interface Verdict {
  outcome: 'applied' | 'ignored' | 'failed';
  reason: string | null;
}

async function apply(service: Context, receipt: Receipt): Promise<Verdict> {
  if (receipt.payload === null) return { outcome: 'failed', reason: 'The payload is no longer kept' };
  const event = normalise(receipt.event ?? '', receipt.payload);
  if (!event) return { outcome: 'ignored', reason: 'Not a listed event' };
  const causeUserIds = [...(await connectedAs(service.db, 'forge', event.payload.sender)), ...receipt.held_by];
  const ctx: Context = { ...service, actor: { type: 'system', name: 'forge', causeUserIds } };
  await run(ctx.db, lockKeyStatement, [receipt.delivery_id]);
  const audience = await findAudience(ctx, event, receipt);
  if (typeof audience === 'string') return { outcome: 'ignored', reason: audience };

  const refusals = await syncIssue(ctx, audience.bindings, receipt, event);
  const bound = audience.bindings.map(({ team_id }) => team_id);
  const found = [
    ...(await findLinkedTasks(ctx, event, audience.linkable)),
    ...(await findTasksNamedIn(ctx, event, receipt.payload, bound)),
  ];
  const linked = [...new Map(found.map((task) => [task.task_id, task])).values()];
  const taskIds = linked.map((task) => task.task_id);
  await linkPullRequest(ctx, event, receipt.payload, taskIds, audience.linkable);
  await recordCycleTimes(ctx, event, audience);
  await publishEvent(ctx, receipt.receipt_id, event, audience, linked);
  if (refusals.length === 0) return { outcome: 'applied', reason: null };
  return { outcome: 'failed', reason: `Issue sync: ${refusals.join('; ')}` };
}

/** Serializes deliveries of one id: the same event may come by the operator's webhook and to an address, and reaches a team once. */
const lockKeyStatement = defineStatement({
  name: 'lock_forge_delivery_key',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 9))',
});
/** By origin: `lock` takes a receipt id, `finish` also outcome and reason. */
const STATEMENTS = {
  'forge.delivery': {
    lock: defineStatement({
      name: 'lock_forge_delivery',
      text: /* sql */ `
    select receipt_id, delivery_id, event, payload, reason, received_at::text, null::uuid as team_id, '{}'::uuid[] as held_by
    from forge_deliveries where receipt_id = $1 and outcome is null for update`,
    }),
    finish: defineStatement({
      name: 'finish_forge_delivery',
      text: 'update forge_deliveries set outcome = $2, reason = $3 where receipt_id = $1',
    }),
  },
  'forge.address_delivery': {
    lock: defineStatement({
      name: 'lock_forge_address_delivery',
      text: /* sql */ `
    select d.receipt_id, d.delivery_id, d.event, d.payload, d.reason, d.received_at::text, r.team_id, d.held_by
    from forge_address_deliveries d join forge_repositories r using (binding_id)
    where d.receipt_id = $1 and d.outcome is null for update of d`,
    }),
    finish: defineStatement({
      name: 'finish_forge_address_delivery',
      // Later only the order of an issue's deliveries and the triage of a failed run read what was sent: a team could fill the disk with the rest.
      text: /* sql */ `
    update forge_address_deliveries set outcome = $2, reason = $3,
      payload = case when normalized like 'forge.issue%' or normalized like '%failed' then payload end where receipt_id = $1`,
    }),
  },
} as const satisfies Record<Origin, unknown>;

/**
 * Applies an accepted delivery in the relay's transaction: issue sync, links, one event for each subscribed team, and the outcome
 * on the receipt. Ignores a delivery that is unknown or already applied.
 * @throws retryable errors; the receipt stores permission errors of issue sync instead, and the events are still published
 */
export function applyDelivery(ctx: Context, receiptId: string, origin: Origin = 'forge.delivery'): Promise<void> {
  const { lock, finish } = STATEMENTS[origin];
  return inTransaction(ctx, async (ctx) => {
    const [receipt] = await run<Receipt>(ctx.db, lock, [receiptId]);
    if (!receipt) return;
    const { outcome, reason } = await apply(ctx, receipt);
    const reasons = [receipt.reason, reason].filter((part) => part !== null).join('; ');
    await run(ctx.db, finish, [receiptId, outcome, reasons || null]);
  });
}
