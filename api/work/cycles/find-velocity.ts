import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import type { Cycle } from './schema.js';

/** Completed cycles that tell how much a team does in one. */
const CYCLES = 3;

/** $1 = team id, $2 = project id or null, $3 = row limit. Points of the last completed cycles, the newest first. */
const statement = defineStatement({
  name: 'cycle_velocity',
  text: /* sql */ `
    select (c.snapshot->'estimate'->>'completed')::int as points from cycles c
    where c.team_id = $1 and c.project_id is not distinct from $2::uuid and c.status = 'completed' and c.snapshot->'estimate' is not null
    order by c.completed_at desc, c.cycle_id desc limit $3`,
});

/** Returns the points of the last three completed cycles in the place of one that the caller may read, the newest first; none without estimates. */
export async function findVelocity({ db }: Pick<Context, 'db'>, { team_id, project_id }: Cycle): Promise<number[]> {
  return (await run<{ points: number }>(db, statement, [team_id, project_id, CYCLES])).map(({ points }) => points);
}
