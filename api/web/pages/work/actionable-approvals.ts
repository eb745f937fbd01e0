import type { Approval } from '../../../automation/runs/approvals/list-approvals.js';
import type { User } from '../../../identity/auth/schema.js';

/** Returns the gates that the user may decide, has not approved yet, and that have not expired. */
export const actionableApprovals = (me: User, gates: readonly Approval[]): Approval[] =>
  gates.filter(
    ({ can_decide, approvals, expires_at }) =>
      can_decide && Date.parse(expires_at) > Date.now() && !approvals.some(({ user_id }) => user_id === me.user_id),
  );
