import type { TeamData } from '../../platform/team-data.js';
import { voidApprovals } from './approvals/void-approvals.js';

export const approvalData: TeamData = {
  tables: [],
  onMemberRemoved: (ctx, { team_id, user_id }) => voidApprovals(ctx, user_id, { team_id, role: null }),
};
