import type { TeamData } from '../../platform/team-data.js';
import { deleteStagesOfTeam } from './stages/delete-stage.js';
import { forgetExpected } from './write/expect-assignee.js';
import { lockAssignedTasks, unassignTasks } from './write/unassign-tasks.js';

export const taskData: TeamData = {
  tables: ['stages', 'expected_assignees'],
  beforeMembershipsEnd: async (ctx, teamId) => {
    await forgetExpected(ctx, teamId);
    return { stages: await deleteStagesOfTeam(ctx, teamId) };
  },
  lockForMember: (ctx, { team_id, user_id }) => lockAssignedTasks(ctx, team_id, user_id),
  afterMemberRemoved: async (ctx, { team_id, user_id, successor }) => ({
    tasks: await unassignTasks(ctx, team_id, user_id, successor),
  }),
};
