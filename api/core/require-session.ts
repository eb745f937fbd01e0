import type { Context } from './context.js';
import { forbidden } from './errors.js';

/**
 * Lets only a signed-in person pass, where a decision is not left to tokens.
 * @throws PERMISSION_DENIED `signed_in_required`
 */
export function requireSession({ actor }: Pick<Context, 'actor'>): void {
  if (actor.type === 'user') return;
  throw forbidden('Only a signed-in person may decide this, no token', { extra: { reason: 'signed_in_required' } });
}
