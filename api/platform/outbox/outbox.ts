import { defineStatement, run } from '../../../db/statement.js';
import { afterCommit, type Context } from '../context.js';

/**
 * Payloads of the work that the relay dispatches after a commit, by kind. Each contract in `workflows/contracts` adds its own. `recordChange` and
 * `enqueueEvents` write events.
 */
export interface OutboxPayloads {
  /** Process an inbound delivery in the database. */
  'forge.delivery': { receipt_id: string };
  /** The same of one that came to the address of a binding. A kind of its own, so that no process of a version without addresses takes it. */
  'forge.address_delivery': { receipt_id: string };
}
export type OutboxKind = keyof OutboxPayloads;

/** $1 = kind, $2 = subject, $3 = payload, $4 = correlation id. */
const enqueueStatement = defineStatement({
  name: 'enqueue_work',
  text: 'insert into outbox (kind, subject, payload, correlation_id) values ($1, $2, $3, $4)',
});

/** Wakes the dispatcher after the commit, for rows that a statement of the transaction has written: a person waits for what they start. */
export const wakeDispatcher = (ctx: Context): void => afterCommit(ctx, () => ctx.notifyRelay('dispatch'));

/** Enqueues work in the transaction that caused it. `subject` is for operators who read the table. */
export async function enqueue<Kind extends OutboxKind>(
  ctx: Context,
  kind: Kind,
  subject: string,
  payload: OutboxPayloads[Kind],
): Promise<void> {
  await run(ctx.db, enqueueStatement, [kind, subject, JSON.stringify(payload), ctx.correlationId]);
  if (!kind.startsWith('forge.')) wakeDispatcher(ctx);
}
