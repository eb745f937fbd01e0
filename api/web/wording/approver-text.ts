import type { User } from '../../auth/schema.js';
import type { GateRole } from '../../runs/rules.js';
import { hasRoleAtLeast, type Seat } from '../../core/access.js';

/** A gate names the lowest seat; people read who that is. */
const SEATED: Readonly<Record<GateRole, string>> = {
  member: 'a member, a manager or an admin',
  manager: 'a manager or an admin',
  admin: 'an admin',
};

/** Who opens a gate: "a manager or an admin", "2 people, each a manager or an admin". */
export const describeApprovers = (role: GateRole, count: number): string =>
  count === 1 ? SEATED[role] : `${count} people, each ${SEATED[role]}`;

/** Why a gate is not for this person, who sees it all the same: the role, or that the run is their own. */
export function cannotDecideReason(
  me: User | null,
  { team_id, required_role }: { team_id: string | null; required_role: GateRole },
): string {
  const seat = me?.teams.find((team) => team.team_id === team_id)?.role ?? null;
  if (!hasRoleAtLeast(seat as Seat | null, required_role)) return `This one is for ${SEATED[required_role]} of the team.`;
  return 'This one is for somebody else: you created the automation, wrote this version of it, or started the run.';
}
