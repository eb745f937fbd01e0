import type { TeamData } from '../../platform/team-data.js';
import { trashItemsOfTeam } from './trash-items-of-team.js';

export const itemData: TeamData = {
  tables: ['items'],
  onTeamDeleted: async (ctx, teamId) => ({ items: await trashItemsOfTeam(ctx, teamId) }),
};
