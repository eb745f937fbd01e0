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

/** What is known of something that waits, of whichever kind: a gate, a change request or a plan. */
interface Waiting {
  gate?: {
    team_id: string | null;
    required_role: GateRole;
    required_approvals: number;
    approvals: readonly { user_id: string }[];
  };
  request?: { team_id: string; requirement: { role: GateRole }; hasApproved: boolean; approvals_needed: number };
  card?: { team_id: string | null };
}

/** Returns how many more approvals are needed after that of the user; null if the user has given none. */
function countStillNeeded(me: User | null, { gate, request }: Waiting): number | null {
  if (request?.hasApproved) return Math.max(1, request.approvals_needed);
  if (!gate?.approvals.some(({ user_id }) => user_id === me?.user_id)) return null;
  return Math.max(1, gate.required_approvals - gate.approvals.length);
}

/** Returns why others decide what the user sees waiting: the user has approved, lacks the role, or is behind it. Queue, task page and cards say the same. */
export function wordNotYours(me: User | null, waiting: Waiting): string {
  const { gate, request, card } = waiting;
  const stillNeeded = countStillNeeded(me, waiting);
  if (stillNeeded !== null) return `You approved. Still needed: ${stillNeeded}.`;
  const role = gate?.required_role ?? request?.requirement.role ?? 'manager';
  if (lacksRole(me, (gate ?? request ?? card)?.team_id ?? null, role)) {
    return `Only ${listApprovers(role)} of the team can ${card ? 'confirm this plan' : 'decide'}.`;
  }
  if (card) return 'You edited this plan; someone else must confirm it.';
  if (request) return 'You asked for this or edited it; someone else must approve it.';
  return 'You created the automation, wrote this version or started the run; someone else must approve it.';
}

/** Says what else an approver has to do with a run: "created the automation and started it"; empty for another user. */
export const wordOwnPart = (approver: string, creator: string | undefined, triggeredBy: string | null | undefined): string =>
  [approver === creator && 'created the automation', approver === triggeredBy && 'started it'].filter(Boolean).join(' and ');
