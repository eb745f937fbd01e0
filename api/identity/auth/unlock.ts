import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { computeHash } from './authenticate.js';
import { findOwner } from './login-attempts.js';

/** $1 = hash of the token. No row: unknown or used, or the lock has ended. */
const statement = defineStatement({
  name: 'unlock_account',
  text: 'delete from login_attempts where unlock_hash = $1 and locked_until > now() returning subject',
});

/**
 * Unlocks an account by the token of the lock email. Works once. The page requires a button press, because mail scanners open links
 * too.
 * @throws INVALID_REQUEST unknown or used token, or the lock has ended
 */
export function unlock(ctx: Context, token: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const [attempt] = await run<{ subject: string }>(ctx.db, statement, [computeHash(token)]);
    if (!attempt) throw invalid('Link already used or lock expired');
    const entity = { entity_type: 'user' as const, entity_id: await findOwner(ctx, attempt.subject) };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'unlock', severity: 'MEDIUM', ...entity });
  });
}
