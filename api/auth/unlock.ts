import { type Context, inTransaction } from '../core/context.js';
import { invalid } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { hashOf } from './authenticate.js';
import { ownerOf } from './login-attempts.js';

/**
 * Unlocks an account by the token of the lock email. Works once. The page requires a button press, because mail scanners open links
 * too.
 * @throws INVALID_REQUEST unknown or used token, or the lock has ended
 */
export function unlock(ctx: Context, token: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const [attempt] = await ctx
      .db('login_attempts')
      .where({ unlock_hash: hashOf(token) })
      .where('locked_until', '>', ctx.db.fn.now())
      .delete()
      .returning<{ subject: string }[]>('subject');
    if (!attempt) throw invalid('Link already used or lock expired');
    const entity = { entity_type: 'user' as const, entity_id: await ownerOf(ctx, attempt.subject) };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'unlock', severity: 'MEDIUM', ...entity });
  });
}
