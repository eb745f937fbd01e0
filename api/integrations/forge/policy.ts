import { authorize, type Seat } from '../../platform/access/access.js';
import type { Actor } from '../../platform/access/actor.js';

/** Returns whether the actor is an instance admin in their own session; tokens and impersonation are not accepted. */
export const isInstanceAdmin = (actor: Actor): boolean =>
  actor.type === 'user' && actor.role === 'admin' && actor.impersonatorId === null;

/**
 * Requires an admin of the team, or an instance admin, who alone may bind a repository for a second team.
 * @throws PERMISSION_DENIED
 */
export function authorizeBinding(actor: Actor, seat: Seat | null): void {
  if (!isInstanceAdmin(actor)) authorize('forge.bind', seat);
}
