import { run } from '../../../db/statement.js';
import { rolesFor } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { listCyclesStatement } from './read-cycle.sql.js';
import type { Cycle, ListCycles } from './schema.js';

/** Lists the cycles of a team, oldest first. Another team's `team_id` returns an empty list. */
export async function listCycles(ctx: Context, { team_id, status, limit, offset }: ListCycles): Promise<Cycle[]> {
  const values = [requireUser(ctx), team_id, status ?? null, limit, offset, rolesFor('cycle.read')];
  return (await run<{ cycle: Cycle }>(ctx.db, listCyclesStatement, values)).map(({ cycle }) => cycle);
}
