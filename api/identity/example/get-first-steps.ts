import { run } from '../../../db/statement.js';
import { isAllowed, rolesFor, type Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import type { User } from '../auth/schema.js';
import { firstStepsStatement } from './first-steps.sql.js';
import { type ExampleRow, type FirstSteps, stepsOf } from './rules.js';

/** Age at which the first steps are no longer shown after the last one, ms. */
const SHOWN_MS = 24 * 3_600_000;

/**
 * Returns the first steps of a user, with what the next one needs. Null for a user who has gone past them: whose teams have runs but no example of
 * theirs, whose example is a day past its decision, or who may write in no team of theirs.
 */
export async function getFirstSteps(ctx: Context, { teams }: User, hasRuns: boolean): Promise<FirstSteps | null> {
  const [example] = await run<ExampleRow>(ctx.db, firstStepsStatement, [requireUser(ctx), rolesFor('automation.write')]);
  if (example) {
    const { finished_at } = example;
    return finished_at && Date.now() - finished_at.getTime() > SHOWN_MS ? null : stepsOf(example);
  }
  if (teams.length === 0) return stepsOf(null);
  const team = teams.find(({ role }) => isAllowed('automation.write', role as Seat));
  return hasRuns || !team ? null : stepsOf({ team_id: team.team_id, team_name: team.name });
}
