import type { Context } from '../../../platform/context.js';

/**
 * Returns the caller's session.
 * @throws Error for other callers, which the access table keeps out of these routes
 */
export function requireSignInSession({ actor }: Context): { userId: string; sessionId: string } {
  if (actor.type !== 'user') throw new Error(`${actor.type} has no session`);
  return actor;
}
