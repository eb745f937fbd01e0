import type { TeamData } from '../../platform/team-data.js';
import { endAutomationsIn } from './delete-automation-row.js';
import { disableUserAutomations, lockUserAutomations } from './ownership/disable-automations.js';

export const automationData: TeamData = {
  tables: ['automations'],
  onTeamDeleted: async (ctx, team_id) => ({ automations: await endAutomationsIn(ctx, { team_id }) }),
  lockForMember: (ctx, { team_id, user_id }) => lockUserAutomations(ctx, user_id, team_id),
  // Once more, for those that were created while the lock of the membership was awaited.
  onMemberRemoved: (ctx, { team_id, user_id }) => lockUserAutomations(ctx, user_id, team_id),
  afterMemberRemoved: async (ctx, { team_id, user_id }) => {
    await disableUserAutomations(ctx, user_id, team_id, 'has left the team');
    return {};
  },
};
