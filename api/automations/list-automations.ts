import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import type { AutomationRow } from './automation-record.js';
import { SELECT_AUTOMATIONS, visibleAutomations } from './automation-record.sql.js';
import { presentAutomation } from './present.js';
import type { AutomationRecord, ListAutomations } from './schema.js';

const WANTED = /* sql */ `a.deleted_at is null and ($2::uuid is null or a.team_id = $2) and ($3::uuid is null or a.project_id = $3)`;

/** $1 = caller id, $2 = team id or null, $3 = project id or null. */
const statement: Statement = {
  name: 'list_automations',
  text: /* sql */ `${SELECT_AUTOMATIONS}
    where a.automation_id = any(array(${visibleAutomations(WANTED)}))
    order by a.created_at, a.automation_id`,
};

/**
 * Lists the automations of the caller's teams and the personal ones, oldest first. Empty for a team or project of others
 * (docs/decisions.md#foreign-filters).
 */
export async function listAutomations(ctx: Context, { team_id, project_id }: ListAutomations): Promise<AutomationRecord[]> {
  const rows = await run<AutomationRow>(ctx.db, statement, [userOf(ctx), team_id ?? null, project_id ?? null]);
  return rows.map(presentAutomation);
}
