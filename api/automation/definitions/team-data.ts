import type { TeamData } from '../../platform/team-data.js';
import { endAutomationsOf } from './delete-automation-row.js';
import { disableAutomationsOf, lockAutomationsOf } from './ownership/disable-automations.js';

export const automationData: TeamData = {
  tables: ['automations'],
  onTeamDeleted: async (ctx, team_id) => ({ automations: await endAutomationsOf(ctx, { team_id }) }),
  lockForMember: (ctx, { team_id, user_id }) => lockAutomationsOf(ctx, user_id, team_id),
  // Once more, for those that were created while the lock of the membership was awaited.
  onMemberRemoved: (ctx, { team_id, user_id }) => lockAutomationsOf(ctx, user_id, team_id),
  afterMemberRemoved: async (ctx, { team_id, user_id }) => {
    await disableAutomationsOf(ctx, user_id, team_id, 'has left the team');
    return {};
  },
};
