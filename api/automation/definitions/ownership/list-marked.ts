import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';

/** An automation that needs attention: a protected one, or one whose creator has left. */
export interface MarkedAutomation extends Record<string, unknown> {
  automation_id: string;
  name: string;
  version: number;
  is_active: boolean;
  is_protected: boolean;
  /** Disabled because its creator may no longer write in the team. */
  is_left: boolean;
  creator: string;
}

/** $1 = caller id, $2 = team id. */
const statement = defineStatement({
  name: 'list_marked_automations',
  text: /* sql */ `
    select a.automation_id, a.name, a.version, a.is_active, a.is_protected, a.disabled_reason is not distinct from 'creator_left' as is_left,
      u.display_name as creator
    from automations a join memberships m on m.team_id = a.team_id and m.user_id = $1 join users u on u.user_id = a.created_by
    where a.team_id = $2 and a.deleted_at is null and (a.is_protected or a.disabled_reason = 'creator_left')
    order by is_left desc, a.name, a.automation_id limit 200`,
});

/** Lists the marked automations of one of the caller's teams, those to take over first; empty for other teams. */
export const listMarkedAutomations = (ctx: Context, teamId: string): Promise<MarkedAutomation[]> =>
  run<MarkedAutomation>(ctx.db, statement, [requireUser(ctx), teamId]);
