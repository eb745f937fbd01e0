import type { TeamData } from '../../platform/team-data.js';
import { closePlansInTeam, closePlansOfTeam } from './decisions/close-plans.js';

export const planData: TeamData = {
  tables: ['agent_plans'],
  onTeamDeleted: async (ctx, teamId) => {
    await closePlansOfTeam(ctx, teamId);
    return {};
  },
  onMemberRemoved: async (ctx, { team_id, user_id }) => {
    await closePlansInTeam(ctx, user_id, team_id);
    return {};
  },
};
