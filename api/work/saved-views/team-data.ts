import type { TeamData } from '../../platform/team-data.js';
import { deleteViewsOfMember, deleteViewsOfPerson, deleteViewsOfTeam } from './delete-view.js';

export const savedViewData: TeamData = {
  tables: ['saved_views'],
  onTeamDeleted: async (ctx, teamId) => ({ saved_views: await deleteViewsOfTeam(ctx, teamId) }),
  onMemberRemoved: async (ctx, { team_id, user_id }) => ({ saved_views: await deleteViewsOfMember(ctx, team_id, user_id) }),
  onPersonRemoved: async (ctx, userId) => ({ saved_views: await deleteViewsOfPerson(ctx, userId) }),
};
