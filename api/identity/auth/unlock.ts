import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { computeHash } from './authenticate.js';
import { findOwner } from './login-attempts.js';

/**
 * Unlocks an account by the token of the lock email. Works once. The page requires a button press, because mail scanners open links
 * too.
 * @throws INVALID_REQUEST unknown or used token, or the lock has ended
 */
export function unlock(ctx: Context, token: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    const [attempt] = await ctx
      .db('login_attempts')
      .where({ unlock_hash: computeHash(token) })
      .where('locked_until', '>', ctx.db.fn.now())
      .delete()
      .returning<{ subject: string }[]>('subject');
    if (!attempt) throw invalid('Link already used or lock expired');
    const entity = { entity_type: 'user' as const, entity_id: await findOwner(ctx, attempt.subject) };
    await recordChange(ctx, { team_id: null, feature: 'auth', action: 'unlock', severity: 'MEDIUM', ...entity });
  });
}
