import type { TeamData } from '../../platform/team-data.js';
import { endSessionsOfPerson, endSessionsOfTeam, unlinkTeam } from './end-sessions.js';

export const sessionData: TeamData = {
  tables: ['agent_sessions'],
  onTeamDeleted: async (ctx, teamId) => ({ agent_sessions: await endSessionsOfTeam(ctx, teamId) }),
  onMemberRemoved: async (ctx, { team_id, user_id }) => ({ agent_links: await unlinkTeam(ctx, user_id, team_id) }),
  onPersonRemoved: async (ctx, userId) => ({ agent_sessions: await endSessionsOfPerson(ctx, userId) }),
};
