import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { DomainError, reasonOf } from '../../platform/errors.js';
import { supersedePlans } from '../plans/decisions/close-plans.js';
import { discardPlan } from '../plans/decisions/discard-plan.js';
import { NOT_STAGED } from './answer-words.js';
import type { ClaimedTurn } from './claim-turn.js';
import type { Answer } from './end-turn.js';

/** $1 = plan id, $2 = session id, $3 = token id or null. Locks a plan that waits, and that the same caller has staged. */
const lockStatement = defineStatement({
  name: 'lock_waiting_plan',
  text: /* sql */ `
    select from agent_plans p where p.action_id = $1 and p.session_id = $2 and p.token_id is not distinct from $3::uuid
      and p.status = 'staged' for no key update`,
});

const DECIDED = 'The plan before was decided meanwhile, so I did not change it. Write the whole change.';
const NO_PLAN = 'No plan waits here any more.';
/** Discarding has a scope of its own, which a token that may write messages need not have. */
const NOT_BY_TOKEN = 'A token cannot discard a plan by a message: use the route that decides plans.';

/**
 * Stages a plan instead of the one that waits, which is closed. A plan that was confirmed meanwhile is not staged again, so that nothing happens twice;
 * where the new one cannot be staged, the old one waits on (docs/decisions/agent.md#follow-ups-that-replace-a-plan).
 */
export async function replacePlan(
  ctx: Context,
  turn: ClaimedTurn,
  waiting: string,
  stage: () => Promise<Answer>,
): Promise<Answer> {
  const locked = await run(ctx.db, lockStatement, [waiting, turn.session_id, turn.token_id]);
  if (locked.length === 0) return { content: `${DECIDED} ${NOT_STAGED}` };
  const answer = await stage();
  if (answer.plan === undefined) return { ...answer, content: `${answer.content} The plan before still waits.` };
  await supersedePlans(ctx, [waiting], answer.plan?.action_id ?? null);
  const how = answer.plan ? 'It replaces the plan before, which is canceled.' : 'The plan before is canceled.';
  return { ...answer, content: `${answer.content}\n\n${how}` };
}

/** Discards the plan that waits. */
export async function discardWaiting(ctx: Context, turn: ClaimedTurn, waiting: string | null): Promise<Answer> {
  if (waiting === null) return { content: NO_PLAN };
  if (turn.token_id !== null) return { content: NOT_BY_TOKEN };
  try {
    await discardPlan(ctx, { session_id: turn.session_id, action_id: waiting });
    return { content: 'The plan is discarded. Nothing was changed.' };
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    return { content: `That cannot be done: ${reasonOf(error)}.` };
  }
}
