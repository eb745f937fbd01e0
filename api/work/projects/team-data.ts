import { run } from '../../../db/statement.js';
import { callerJson } from '../../platform/context.js';
import type { TeamData } from '../../platform/team-data.js';
import { lockLedStatement, releaseLedStatement } from './release-projects.sql.js';

/** Projects of a former member have no lead, or the successor of their tasks. */
export const projectData: TeamData = {
  tables: [],
  lockForMember: (ctx, { team_id, user_id }) => run(ctx.db, lockLedStatement, [team_id, user_id]),
  async afterMemberRemoved(ctx, { team_id, user_id, successor }) {
    const [row] = await run<{ live: number }>(ctx.db, releaseLedStatement, [
      JSON.stringify(callerJson(ctx)),
      team_id,
      user_id,
      successor,
    ]);
    return { led_projects: row?.live };
  },
};
