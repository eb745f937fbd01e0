import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { WebhookStatus } from '../schema.js';

interface Counters extends Record<string, unknown> {
  received_total: number;
  duplicates_total: number;
  ignored_total: number;
  signature_failures_total: number;
  last_received_at: Date | null;
  last_signature_failure_at: Date | null;
  last_event: string | null;
}

const statement = defineStatement({
  name: 'forge_counters',
  text: /* sql */ `
    select coalesce(sum(received_total), 0)::bigint as received_total, coalesce(sum(duplicates_total), 0)::bigint as duplicates_total,
      coalesce(sum(ignored_total), 0)::bigint as ignored_total,
      coalesce(sum(signature_failures_total), 0)::bigint as signature_failures_total,
      max(last_received_at) as last_received_at, max(last_signature_failure_at) as last_signature_failure_at,
      (array_agg(last_event order by last_received_at desc nulls last))[1] as last_event
    from forge_counters`,
});

const iso = (moment: Date | null): string | null => moment?.toISOString() ?? null;

/** Returns whether deliveries can arrive, and the counters summed over all shards. */
export async function webhookStatus(ctx: Context): Promise<WebhookStatus> {
  const [row] = await run<Counters>(ctx.db, statement, []);
  const { last_received_at, last_signature_failure_at, ...counters } = row as Counters;
  return {
    signing_secret_configured: Boolean(ctx.config.FORGE_WEBHOOK_SECRET),
    ...counters,
    last_received_at: iso(last_received_at),
    last_signature_failure_at: iso(last_signature_failure_at),
  };
}
