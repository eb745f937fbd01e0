import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { type AutomationRow, SELECT_AUTOMATIONS, visibleAutomations } from './automation-record.js';
import { presentAutomation } from './present.js';
import type { AutomationRecord, ListAutomations } from './schema.js';

const WANTED = /* sql */ `a.deleted_at is null and ($2::uuid is null or a.team_id = $2) and ($3::uuid is null or a.project_id = $3)`;

/** $1 = caller, $2 = team or null, $3 = project or null. */
const statement: Statement = {
  name: 'list_automations',
  text: /* sql */ `${SELECT_AUTOMATIONS}
    where a.automation_id = any(array(${visibleAutomations(WANTED)}))
    order by a.created_at, a.automation_id`,
};

/** Automations of the caller's teams and their personal ones, oldest first; of a foreign team or project none (F1, L). */
export async function listAutomations(ctx: Context, { team_id, project_id }: ListAutomations): Promise<AutomationRecord[]> {
  const rows = await run<AutomationRow>(ctx.db, statement, [userOf(ctx), team_id ?? null, project_id ?? null]);
  return rows.map(presentAutomation);
}
