import type { Approval } from '../../../automation/runs/approvals/list-approvals.js';
import type { User } from '../../../identity/auth/schema.js';

/** Returns the gates that the user may decide and has not approved yet. */
export const actionableApprovals = (me: User, gates: readonly Approval[]): Approval[] =>
  gates.filter(({ can_decide, approvals }) => can_decide && !approvals.some(({ user_id }) => user_id === me.user_id));
