import type { TeamData } from '../../platform/team-data.js';
import { endJobsOfTeam } from './end-jobs-of-team.js';

export const bulkData: TeamData = {
  tables: ['bulk_jobs'],
  onTeamDeleted: async (ctx, teamId) => ({ bulk_jobs: await endJobsOfTeam(ctx, teamId) }),
};
