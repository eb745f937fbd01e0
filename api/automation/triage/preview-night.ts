import { run } from '../../../db/statement.js';
import { authorize } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { dayIn } from './nightly.js';
import { selectTasksStatement } from './overnight.sql.js';
import type { SelectedTask } from './rules.js';

/** What the overnight triage would propose now: at most as much as one plan holds. */
export interface NightPreview {
  overdue: number;
  untouched: number;
}

/**
 * Counts what the overnight triage of a team would propose if it ran now, without staging it.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function previewNight(ctx: Context, teamId: string, timezone: string): Promise<NightPreview> {
  authorize('agent_settings.read', await seatInTeam(ctx, teamId));
  const values = [teamId, dayIn(timezone, new Date())];
  const tasks = await run<SelectedTask & Record<string, unknown>>(ctx.db, selectTasksStatement, values);
  const overdue = tasks.filter((task) => task.overdue).length;
  return { overdue, untouched: tasks.length - overdue };
}
