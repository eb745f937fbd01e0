import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';

/**
 * $1 = user id, $2 = provider or null for all, $3 = correlation id. Keeps the encrypted tokens until the service has revoked
 * them.
 */
const endStatement = defineStatement({
  name: 'end_connections',
  text: /* sql */ `
    with gone as (
      delete from integration_connections where user_id = $1 and ($2::text is null or provider = $2) returning *
    ), kept as (
      insert into integration_revocations (user_id, provider, data_key, sealed_value, expires_at)
      select user_id, provider, data_key, sealed_value, expires_at from gone returning revocation_id
    ), ordered as (
      insert into outbox (kind, subject, payload, correlation_id)
      select 'integration.revoke', revocation_id::text, jsonb_build_object('revocation_id', revocation_id), $3 from kept
    )
    select account from gone`,
});

/**
 * Deletes one or all connections of a user in the caller's transaction and enqueues the revocation of their tokens. Returns the
 * accounts.
 */
export async function endConnections(ctx: Context, userId: string, provider: string | null): Promise<string[]> {
  const rows = await run<{ account: string }>(ctx.db, endStatement, [userId, provider, ctx.correlationId]);
  return rows.map(({ account }) => account);
}
