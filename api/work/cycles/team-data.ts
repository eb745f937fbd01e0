import type { TeamData } from '../../platform/team-data.js';
import { deleteCyclesOfTeam } from './delete-cycle.js';

export const cycleData: TeamData = {
  tables: ['cycles'],
  beforeMembershipsEnd: async (ctx, teamId) => ({ cycles: await deleteCyclesOfTeam(ctx, teamId) }),
};
