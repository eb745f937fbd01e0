import { type Ability, authorize, isAllowed, getRule, type Seat } from '../../platform/access/access.js';
import { forbidden } from '../../platform/errors.js';

/** Owner of an automation or a run: its team, or the creator of a personal one. */
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
 * Rejects callers without the required role in the team; a personal automation belongs to its creator alone.
 * @throws PERMISSION_DENIED
 */
export function authorizeAccess(ability: Ability, owned: Owned, caller: Caller): void {
  if (owned.team_id !== null) authorize(ability, caller.seat);
  else if (!isOwner(owned, caller)) throw forbidden('This is another user’s personal automation');
}

/** Returns whether `authorizeManage` accepts the caller. */
export function canManage(ability: Ability, owned: Owned, caller: Caller): boolean {
  if (owned.team_id === null) return isOwner(owned, caller);
  return isAllowed(ability, caller.seat) && (isOwner(owned, caller) || isAllowed('automation.manage', caller.seat));
}

/** An automation to be changed. */
interface ProtectedDefinition extends Owned {
  is_protected: boolean;
}

/**
 * Rejects callers who may not change an automation. Only team admins may change a protected one, not even its creator, so that
 * nobody else can remove its gate (docs/decisions/automation.md#protection).
 * @throws PERMISSION_DENIED
 */
export function authorizeChange(
  ability: 'automation.write' | 'automation.take_over',
  automation: ProtectedDefinition,
  caller: Caller,
): void {
  if (ability === 'automation.write') authorizeManage(ability, automation, caller);
  else authorizeAccess(ability, automation, caller);
  if (!automation.is_protected || isAllowed('automation.protect', caller.seat)) return;
  throw forbidden('The automation is protected; only team admins can change it');
}

/**
 * Rejects callers like `authorizeAccess`; another user's automation also needs a manager of the team.
 * @throws PERMISSION_DENIED
 */
export function authorizeManage(ability: Ability, owned: Owned, caller: Caller): void {
  if (canManage(ability, owned, caller)) return;
  authorizeAccess(ability, owned, caller);
  throw forbidden(`Requires the ${getRule('automation.manage').seat} role in the team or being the automation’s creator`);
}
