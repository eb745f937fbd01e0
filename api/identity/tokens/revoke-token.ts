import { defineStatement, run } from '../../../db/statement.js';
import { closePlansOfTokens } from '../../agent/plans/decisions/close-plans.js';
import { cancelRequestsOfTokens } from '../../gate/requests/decide/close-requests.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';

/** $1 = token id, $2 = owner id. `was_active` false: already revoked, and unchanged. No row: the user has no such token. */
const statement = defineStatement({
  name: 'revoke_token',
  text: /* sql */ `
    with held as (
      select token_id, name, revoked_at from personal_access_tokens where token_id = $1 and user_id = $2 for no key update
    ), revoked as (
      update personal_access_tokens t set revoked_at = now() from held
      where t.token_id = held.token_id and held.revoked_at is null returning t.token_id
    )
    select name, exists (select from revoked) as is_news from held`,
});

/**
 * Permanently revokes a token of the caller, from the next request on, and discards what it has proposed. A repetition changes nothing.
 * @throws RESOURCE_NOT_FOUND also for another user's token
 */
export function revokeToken(ctx: Context, tokenId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const [token] = await run<{ name: string; is_news: boolean }>(ctx.db, statement, [tokenId, requireUser(ctx)]);
    if (!token) throw notFound('Token');
    if (!token.is_news) return;
    await closePlansOfTokens(ctx, [tokenId]);
    await cancelRequestsOfTokens(ctx, [tokenId]);
    await recordChange(ctx, {
      team_id: null,
      feature: 'tokens',
      action: 'revoke',
      severity: 'HIGH',
      entity_type: 'token',
      entity_id: tokenId,
      details: { name: token.name },
    });
  });
}
