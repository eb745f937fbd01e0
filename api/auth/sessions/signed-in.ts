import type { Context } from '../../core/context.js';

/**
 * The session that the caller came with.
 * @throws Error for anything else: the table keeps tokens out of these routes
 */
export function sessionOf({ actor }: Context): { userId: string; sessionId: string } {
  if (actor.type !== 'user') throw new Error(`${actor.type} has no session`);
  return actor;
}
