import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { unknownCursor } from '../../../platform/endpoint/pages.js';

/** $1 = run id, $2 = caller id. */
const statement = defineStatement({
  name: 'run_cursor',
  text: /* sql */ `
    select from automation_runs r where r.run_id = $1
      and case when r.team_id is null then r.creator_id = $2
        else exists (select from memberships m where m.team_id = r.team_id and m.user_id = $2) end`,
});

/** Checks that the caller may see the run after which a list continues. @throws VALIDATION_ERROR */
export async function checkRunCursor(ctx: Context, runId: string): Promise<void> {
  if ((await run(ctx.db, statement, [runId, requireUser(ctx)])).length === 0) throw unknownCursor();
}
