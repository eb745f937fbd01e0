import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';

/** $1 = owner id. */
const statement: Statement = {
  name: 'revoke_tokens_of_person',
  text: 'update personal_access_tokens set revoked_at = now() where user_id = $1 and revoked_at is null returning token_id',
};

/** Permanently revokes every token of a user. Returns their number. */
export async function revokeTokensOf(ctx: Context, userId: string): Promise<number> {
  return (await run(ctx.db, statement, [userId])).length;
}
