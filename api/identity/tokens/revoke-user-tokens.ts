import { defineStatement, run } from '../../../db/statement.js';
import { closePlansOfTokens } from '../../agent/plans/decisions/close-plans.js';
import { cancelRequestsOfTokens } from '../../gate/requests/decide/close-requests.js';
import type { Context } from '../../platform/context.js';

/** $1 = owner id. */
const statement = defineStatement({
  name: 'revoke_tokens_of_person',
  text: 'update personal_access_tokens set revoked_at = now() where user_id = $1 and revoked_at is null returning token_id',
});

/** Permanently revokes every token of a user and discards what they have proposed or asked for. Returns their number. */
export async function revokeUserTokens(ctx: Context, userId: string): Promise<number> {
  const revoked = await run<{ token_id: string }>(ctx.db, statement, [userId]);
  const ids = revoked.map(({ token_id }) => token_id);
  if (ids.length > 0) {
    await closePlansOfTokens(ctx, ids);
    await cancelRequestsOfTokens(ctx, ids);
  }
  return revoked.length;
}
