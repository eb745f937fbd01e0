import { type Ability, authorize, isAtLeast, type Seat } from '../core/access.js';
import { forbidden } from '../core/errors.js';

/** What decides about an automation or one of its runs: its team, or for a personal one its creator. */
export interface Owned {
  team_id: string | null;
  created_by: string;
}

/**
 * Refuses whoever has no such seat in the team; a personal automation is its creator's alone (F1).
 * @throws PERMISSION_DENIED
 */
export function authorizeOn(ability: Ability, owned: Owned, caller: { userId: string; seat: Seat | null }): void {
  if (owned.team_id !== null) authorize(ability, caller.seat);
  else if (owned.created_by !== caller.userId) throw forbidden('This automation is personal to someone else');
}

/**
 * As `authorizeOn`, and what another person made needs a manager of the team (decision K).
 * @throws PERMISSION_DENIED
 */
export function authorizeOwn(ability: Ability, owned: Owned, caller: { userId: string; seat: Seat | null }): void {
  authorizeOn(ability, owned, caller);
  if (owned.created_by === caller.userId || isAtLeast(caller.seat, 'manager')) return;
  throw forbidden('Another person’s automation needs the manager role in the team');
}
