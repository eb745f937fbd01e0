import { type Ability, authorize, hasRoleAtLeast, type Seat, isAllowed } from '../core/access.js';
import { forbidden } from '../core/errors.js';

/** What decides about an automation or one of its runs: its team, or for a personal one its creator. */
export interface Owned {
  team_id: string | null;
  created_by: string;
}

interface Caller {
  userId: string;
  seat: Seat | null;
}

const isOwner = ({ created_by }: Owned, { userId }: Caller): boolean => created_by === userId;

/**
 * Refuses whoever has no such seat in the team; a personal automation is its creator's alone (F1).
 * @throws PERMISSION_DENIED
 */
export function authorizeAccess(ability: Ability, owned: Owned, caller: Caller): void {
  if (owned.team_id !== null) authorize(ability, caller.seat);
  else if (!isOwner(owned, caller)) throw forbidden('This automation is personal to someone else');
}

/** True for whom `authorizeManage` lets pass. */
export function canManage(ability: Ability, owned: Owned, caller: Caller): boolean {
  if (owned.team_id === null) return isOwner(owned, caller);
  return isAllowed(ability, caller.seat) && (isOwner(owned, caller) || hasRoleAtLeast(caller.seat, 'manager'));
}

/** An automation that somebody wants to change. */
interface Changed extends Owned {
  is_protected: boolean;
}

/**
 * Refuses callers who may not change an automation. A protected one is for team admins only, also for its creator: nobody else can
 * edit a gate out of it.
 * @throws PERMISSION_DENIED
 */
export function authorizeChange(ability: 'automation.write' | 'automation.take_over', automation: Changed, caller: Caller): void {
  if (ability === 'automation.write') authorizeManage(ability, automation, caller);
  else authorizeAccess(ability, automation, caller);
  if (!automation.is_protected || isAllowed('automation.protect', caller.seat)) return;
  throw forbidden('This automation is protected: only team admins may change it');
}

/**
 * As `authorizeAccess`, and what another person made needs a manager of the team (decision K).
 * @throws PERMISSION_DENIED
 */
export function authorizeManage(ability: Ability, owned: Owned, caller: Caller): void {
  if (canManage(ability, owned, caller)) return;
  authorizeAccess(ability, owned, caller);
  throw forbidden('Another person’s automation needs the manager role in the team');
}
