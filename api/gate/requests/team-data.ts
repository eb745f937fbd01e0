import { run } from '../../../db/statement.js';
import type { TeamData } from '../../platform/team-data.js';
import { cancelRequestsOfTeam, loseRequestRights } from './decide/close-requests.js';
import { deleteRulesStatement } from './rules/rules.sql.js';

export const requestData: TeamData = {
  tables: ['change_requests', 'request_rules', 'request_rule_versions'],
  onTeamDeleted: async (ctx, teamId) => {
    await run(ctx.db, deleteRulesStatement, [teamId]);
    await cancelRequestsOfTeam(ctx, teamId);
    return {};
  },
  onMemberRemoved: (ctx, { team_id, user_id }) => loseRequestRights(ctx, user_id, { team_id, role: null }),
};
