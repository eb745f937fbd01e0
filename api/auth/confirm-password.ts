import type { Context } from '../core/context.js';
import { forbidden, unavailable } from '../core/errors.js';
import { checkPassword, type VerifiedPassword } from './check-password.js';

/** A signed-in person whose proof is wrong stays signed in: 403, not 401. The same words when the account is locked. */
export const invalidProof = () => forbidden('The password or the code is not right');

/** Comparisons of one signed-in person under way at once in this process: the few places to compare are everybody's who signs in. */
const MAX_CONCURRENT = 4;
const underWay = new Map<string, number>();

/**
 * Has a signed-in person prove once more who they are. Counted with every other try at the account's secrets (A6). These routes have
 * no limit a minute, so nobody may wait with many: they would fill the queue of all.
 * @throws PERMISSION_DENIED | INTERNAL_ERROR 503 too many at once
 */
export async function confirmPassword(ctx: Context, password: string): Promise<VerifiedPassword> {
  if (ctx.actor.type !== 'user') throw invalidProof();
  const { email, userId } = ctx.actor;
  const others = underWay.get(userId) ?? 0;
  if (others >= MAX_CONCURRENT) throw unavailable();
  underWay.set(userId, others + 1);
  try {
    return await checkPassword(ctx, { email, password }, invalidProof);
  } finally {
    const left = (underWay.get(userId) ?? 1) - 1;
    if (left > 0) underWay.set(userId, left);
    else underWay.delete(userId);
  }
}
