import { run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { readWebhook } from '../read-webhook.js';
import { recordWebhookChange } from '../record-webhook-change.js';
import { firstIdAt } from '../rules.js';
import type { ReplayedWebhook, ReplayWebhook } from '../schema.js';
import { replayStatement } from './redeliver.sql.js';
import { requireActive } from './redeliver.js';

const MAX_REPLAYED = 10_000;
/** Counting ends here. */
const MAX_COUNTED = 100_000;

interface Outcome extends Record<string, unknown> {
  failed: number;
  queued: number;
  moved: number;
}

const formatNumber = (failed: number): string => `${failed >= MAX_COUNTED ? 'at least ' : ''}${failed}`;

/**
 * Sends all failed deliveries of a range of time again, each under its `webhook-id`, or none of them.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT disabled, more than 10,000 in the range, or 10,000
 * pending already
 */
export function replay(ctx: Context, webhookId: string, { from, to }: ReplayWebhook): Promise<ReplayedWebhook> {
  return inTransaction(ctx, async (ctx) => {
    const webhook = await readWebhook(ctx, 'webhook.write', webhookId);
    requireActive(webhook);
    const range = [firstIdAt(Date.parse(from)), firstIdAt(Date.parse(to))];
    const [outcome] = await run<Outcome>(ctx.db, replayStatement, [webhookId, ...range, MAX_REPLAYED, MAX_COUNTED]);
    const { failed, queued, moved } = outcome as Outcome;
    if (failed > MAX_REPLAYED) {
      const extra = { failed_deliveries: failed };
      const detail = `The range has ${formatNumber(failed)}; choose a shorter one.`;
      throw conflict(`A replay takes at most ${MAX_REPLAYED} deliveries`, { detail, extra });
    }
    if (queued >= MAX_REPLAYED) {
      throw conflict('Too many deliveries are pending', {
        detail: `At least ${MAX_REPLAYED} wait for an attempt; repeat the request when they have ended.`,
      });
    }
    await recordWebhookChange(ctx, webhook, 'retry', { from, to, status: 'failed', deliveries: moved });
    return { queued: moved };
  });
}
