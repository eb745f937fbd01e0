import { authorize, type Seat } from '../core/access.js';
import type { Actor } from '../core/actor.js';

/** True for an instance admin who signed in as themselves; a token is refused where the installation is administered (A11). */
export const isInstanceAdmin = (actor: Actor): boolean =>
  actor.type === 'user' && actor.role === 'admin' && actor.impersonatorId === null;

/**
 * A team's admin binds for the team; an instance admin for any team, as only they may bind a repository for a second one (F2).
 * @throws PERMISSION_DENIED
 */
export function authorizeBinding(actor: Actor, seat: Seat | null): void {
  if (!isInstanceAdmin(actor)) authorize('forge.bind', seat);
}
