import type { ApprovalList } from '../../../runs/approvals/schema.js';
import type { User } from '../../../auth/schema.js';

/** Gates that the person may decide and has not said yes to: one who has, while others are missing, is not asked again. */
export const actionableApprovals = (me: User, gates: ApprovalList['approvals']): ApprovalList['approvals'] =>
  gates.filter(({ can_decide, approvals }) => can_decide && !approvals.some(({ user_id }) => user_id === me.user_id));
