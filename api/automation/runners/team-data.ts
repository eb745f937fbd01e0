import type { TeamData } from '../../platform/team-data.js';
import { deleteRegistrationTokens, deleteRunnersOfTeam } from './registration/delete-runner.js';

export const runnerData: TeamData = {
  tables: ['runners', 'runner_jobs', 'runner_registration_tokens'],
  onTeamDeleted: async (ctx, teamId) => {
    const { runners, jobs: runner_jobs } = await deleteRunnersOfTeam(ctx, teamId);
    return { runners, runner_jobs };
  },
  onMemberRemoved: async (ctx, { team_id, user_id }) => ({
    runner_tokens: await deleteRegistrationTokens(ctx, team_id, user_id),
  }),
};
