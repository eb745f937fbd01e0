import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';

/** $1 owner. */
const statement: Statement = {
  name: 'revoke_tokens_of_person',
  text: 'update personal_access_tokens set revoked_at = now() where user_id = $1 and revoked_at is null returning token_id',
};

/** Revokes every token of a person for good. Returns how many there were. */
export async function revokeTokensOf(ctx: Context, userId: string): Promise<number> {
  return (await run(ctx.db, statement, [userId])).length;
}
