import type { ApprovalList } from '../../../runs/approvals/schema.js';
import type { User } from '../../../auth/schema.js';

/** Returns the gates that the user may decide and has not approved yet. */
export const actionableApprovals = (me: User, gates: ApprovalList['approvals']): ApprovalList['approvals'] =>
  gates.filter(({ can_decide, approvals }) => can_decide && !approvals.some(({ user_id }) => user_id === me.user_id));
