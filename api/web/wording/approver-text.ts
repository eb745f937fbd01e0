import type { User } from '../../identity/auth/schema.js';
import type { GateRole } from '../../automation/actions/rules.js';
import { hasRoleAtLeast, rolesFrom, type Seat } from '../../platform/access/access.js';

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });
/** Lists the roles that can decide a gate: "a member, a manager or an admin". */
const listApprovers = (lowest: GateRole): string =>
  alternatives.format(rolesFrom(lowest).map((role) => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`));

/** Describes the approvers: "a manager or an admin", "2 people, each a manager or an admin". */
export const describeApprovers = (role: GateRole, count: number): string =>
  count === 1 ? listApprovers(role) : `${count} approvals, each from ${listApprovers(role)}`;

/** Returns why the user cannot decide a visible gate: their role, or self-approval. */
export function cannotDecideReason(
  me: User | null,
  { team_id, required_role }: { team_id: string | null; required_role: GateRole },
): string {
  const seat = me?.teams.find((team) => team.team_id === team_id)?.role ?? null;
  if (!hasRoleAtLeast(seat as Seat | null, required_role)) return `Only ${listApprovers(required_role)} of the team can decide.`;
  return 'You created the automation, wrote this version or started the run; someone else must approve it.';
}
