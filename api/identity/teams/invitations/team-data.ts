import type { TeamData } from '../../../platform/team-data.js';
import { revokeInvitationsBy } from './revoke-invitations-by.js';

export const invitationData: TeamData = {
  tables: [],
  onMemberRemoved: async (ctx, { team_id, user_id }) => ({
    revoked_invitations: await revokeInvitationsBy(ctx, team_id, user_id),
  }),
};
