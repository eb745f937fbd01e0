import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { present, TOKEN_COLUMNS, type TokenRow } from './present.js';
import type { TokenRecord } from './schema.js';

/** $1 = owner id. */
const statement = defineStatement({
  name: 'list_tokens',
  text: `select ${TOKEN_COLUMNS} from personal_access_tokens where user_id = $1 order by created_at desc, token_id desc`,
});

/** Lists the caller's tokens without secrets, newest first, revoked and expired ones included. */
export async function listTokens(ctx: Context): Promise<TokenRecord[]> {
  return (await run<TokenRow>(ctx.db, statement, [requireUser(ctx)])).map(present);
}
