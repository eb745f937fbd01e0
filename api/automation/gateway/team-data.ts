import { run } from '../../../db/statement.js';
import type { TeamData } from '../../platform/team-data.js';
import { deleteUpstreamsOfTeamStatement } from './upstreams/upstreams.sql.js';

export const gatewayData: TeamData = {
  tables: ['mcp_upstreams'],
  onTeamDeleted: async (ctx, teamId) => {
    await run(ctx.db, deleteUpstreamsOfTeamStatement, [teamId]);
    return {};
  },
};
