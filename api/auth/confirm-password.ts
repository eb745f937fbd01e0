import type { Context } from '../core/context.js';
import { forbidden } from '../core/errors.js';
import { checkPassword, type Passed } from './check-password.js';

/** A signed-in person whose proof is wrong stays signed in: 403, not 401. The same words when the account is locked. */
export const wrongProof = () => forbidden('The password or the code is not right');

/**
 * Has a signed-in person prove once more who they are. Counted with every other try at the account's secrets (A6).
 * @throws PERMISSION_DENIED
 */
export function confirmPassword(ctx: Context, password: string): Promise<Passed> {
  if (ctx.actor.type !== 'user') throw wrongProof();
  return checkPassword(ctx, { email: ctx.actor.email, password }, wrongProof);
}
