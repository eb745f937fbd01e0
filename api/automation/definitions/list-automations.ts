import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { unknownCursor } from '../../platform/endpoint/pages.js';
import type { AutomationRow } from './automation-record.js';
import { SELECT_AUTOMATIONS, visibleAutomations } from './automation-record.sql.js';
import { presentAutomation } from './present.js';
import type { AutomationRecord, ListAutomations } from './schema.js';

const WANTED = /* sql */ `a.deleted_at is null and ($2::uuid is null or a.team_id = $2) and ($3::uuid is null or a.project_id = $3)`;

/** $1 = caller id, $2 = team id or null, $3 = project id or null, $4 = id of the automation before the first or null, $5 = row limit. */
const statement = defineStatement({
  name: 'list_automations',
  text: /* sql */ `${SELECT_AUTOMATIONS}
    where a.automation_id = any(array(
      select v.automation_id from (${visibleAutomations(WANTED, 'a.automation_id, a.created_at')}) v
      where $4::uuid is null or (v.created_at, v.automation_id) > (select c.created_at, c.automation_id from automations c where c.automation_id = $4)
      order by v.created_at, v.automation_id limit $5))
    order by a.created_at, a.automation_id`,
});

/** $1 = caller id, $2 = automation id. A row, if the caller may read the automation or could before it was deleted. */
const cursorStatement = defineStatement({
  name: 'automation_cursor',
  text: visibleAutomations('a.automation_id = $2'),
});

/**
 * Lists the automations of the caller's teams and the personal ones, oldest first; those after `before`. Empty for a team or project of
 * others (docs/decisions/platform.md#foreign-filters).
 * @throws VALIDATION_ERROR a cursor that is no automation of the caller's
 */
export async function listAutomations(
  ctx: Context,
  { team_id, project_id, limit, before }: ListAutomations,
): Promise<AutomationRecord[]> {
  const userId = requireUser(ctx);
  if (before !== undefined && (await run(ctx.db, cursorStatement, [userId, before])).length === 0) throw unknownCursor();
  const values = [userId, team_id ?? null, project_id ?? null, before ?? null, limit ?? null];
  const rows = await run<AutomationRow>(ctx.db, statement, values);
  return rows.map(presentAutomation);
}
