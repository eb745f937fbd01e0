import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { present, TOKEN_COLUMNS, type TokenRow } from './present.js';
import type { TokenRecord } from './schema.js';

/** $1 owner. */
const statement: Statement = {
  name: 'list_tokens',
  text: `select ${TOKEN_COLUMNS} from personal_access_tokens where user_id = $1 order by created_at desc, token_id desc`,
};

/**
 * The caller's tokens, newest first, revoked and expired ones too, none with its secret.
 * Source: contract, section 4; decision A9.
 */
export async function listTokens(ctx: Context): Promise<TokenRecord[]> {
  return (await run<TokenRow>(ctx.db, statement, [userOf(ctx)])).map(present);
}
