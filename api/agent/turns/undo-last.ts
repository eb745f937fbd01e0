import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { DomainError, reasonOf } from '../../platform/errors.js';
import { undoPlan } from '../plans/decisions/undo-plan.js';
import { NOT_STAGED, planWords } from './answer-words.js';
import type { ClaimedTurn } from './claim-turn.js';
import type { Answer } from './end-turn.js';

/** $1 = session id. The plan of a session that was confirmed last, whatever it takes back itself. */
const statement = defineStatement({
  name: 'last_applied_plan',
  text: /* sql */ `
    select p.action_id from (select * from agent_plans p where p.session_id = $1 order by p.staged_at desc limit 1000) p
    where p.status = 'applied' order by p.decided_at desc limit 1`,
});

const NONE =
  'No plan of this session was confirmed, so there is nothing to take back. A plan that you have not confirmed has changed nothing.';
/** Undoing has a scope of its own, which a token that may write messages need not have. */
const NOT_BY_TOKEN = 'A token cannot take back a plan by a message: use the route that undoes plans.';

/** Stages the plan that takes back the one of the session that was confirmed last. It waits for a confirmation of its own. */
export async function undoLast(ctx: Context, { session_id, token_id }: ClaimedTurn): Promise<Answer> {
  if (token_id !== null) return { content: `${NOT_BY_TOKEN} ${NOT_STAGED}` };
  const [last] = await run<{ action_id: string }>(ctx.db, statement, [session_id]);
  if (!last) return { content: `${NONE} ${NOT_STAGED}` };
  try {
    const { omitted, ...plan } = await undoPlan(ctx, last.action_id);
    return { content: planWords({ plan, omitted }), plan: { action_id: plan.action_id, changes: plan.actions.length } };
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    return { content: `That cannot be done: ${reasonOf(error)}. ${NOT_STAGED}` };
  }
}
