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

/** Says that no yes is possible now: too few people of the team may give one, as the rule that decides counts them. */
export function describeShortage(role: GateRole, approvals: number, missing: number): string {
  const able = approvals - missing;
  if (able > 0) return `Only ${able} of the ${approvals} approvals that it needs can be given now.`;
  return `Nobody in the team can approve this now: it needs ${describeApprovers(role, approvals)} not behind it.`;
}

const lacksRole = (me: User | null, team_id: string | null, role: GateRole): boolean =>
  !hasRoleAtLeast((me?.teams.find((team) => team.team_id === team_id)?.role ?? null) as Seat | null, role);

/** Returns why the user cannot approve a visible change request: their role, or that they are behind it. */
export const cannotApproveReason = (
  me: User | null,
  { team_id, requirement }: { team_id: string; requirement: { role: GateRole } },
): string =>
  lacksRole(me, team_id, requirement.role)
    ? `Only ${listApprovers(requirement.role)} of the team can decide.`
    : 'You asked for this or edited it; someone else must approve it.';

/** Returns why the user cannot decide a visible gate: their role, or self-approval. */
export function cannotDecideReason(
  me: User | null,
  { team_id, required_role }: { team_id: string | null; required_role: GateRole },
): string {
  if (lacksRole(me, team_id, required_role)) return `Only ${listApprovers(required_role)} of the team can decide.`;
  return 'You created the automation, wrote this version or started the run; someone else must approve it.';
}
