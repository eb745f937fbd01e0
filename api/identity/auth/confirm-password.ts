import type { Context } from '../../platform/context.js';
import { forbidden, unavailable } from '../../platform/errors.js';
import { checkPassword, type VerifiedPassword } from './check-password.js';

/** A wrong proof does not sign the user out: 403, not 401. Same text for a locked account. */
export const invalidProof = () => forbidden('Incorrect password or code');

/** Maximum concurrent comparisons per user and process, because the hash queue is shared with all sign-ins. */
const MAX_CONCURRENT = 4;
const underWay = new Map<string, number>();

/**
 * Requires the password of a signed-in user again; counts with all other attempts at the account. These routes have no rate limit,
 * so each user may only have a few comparisons pending.
 * @throws PERMISSION_DENIED | INTERNAL_ERROR 503 too many at once
 */
export async function confirmPassword(ctx: Context, password: string): Promise<VerifiedPassword> {
  if (ctx.actor.type !== 'user') throw invalidProof();
  const { email, userId } = ctx.actor;
  const others = underWay.get(userId) ?? 0;
  if (others >= MAX_CONCURRENT) throw unavailable();
  underWay.set(userId, others + 1);
  try {
    return await checkPassword(ctx, { email, password }, { refusal: invalidProof });
  } finally {
    const left = (underWay.get(userId) ?? 1) - 1;
    if (left > 0) underWay.set(userId, left);
    else underWay.delete(userId);
  }
}
