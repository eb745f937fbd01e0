import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';

/** $1 = team id, $2 = user id. A member, whose removal waits for the commit. */
const statement = defineStatement({
  name: 'lead_of_project',
  text: 'select 1 from memberships m where m.team_id = $1 and m.user_id = $2 for key share',
});

/** @throws INVALID_REQUEST the lead is no member of the team. Null is nobody */
export async function checkLead({ db }: Context, teamId: string, leadId: string | null): Promise<void> {
  if (leadId === null) return;
  const [member] = await run(db, statement, [teamId, leadId]);
  if (!member) throw invalid('lead_id must be a member of the project’s team');
}
