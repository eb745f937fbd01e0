import { z } from 'zod';
import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { Id } from '../../platform/fields.js';
import { discardPlan } from '../plans/decisions/discard-plan.js';
import { getPlan } from '../plans/waiting/get-plan.js';
import { listPending } from '../plans/waiting/list-pending.js';
import { proposedPlanStatement } from './proposal.sql.js';
import { confirmUrl, readProposed, requireToken } from './propose-plan.js';
import { fitRows } from './rules.js';
import { mcpTool } from './tool.js';

const MAX_PENDING = 50;
const PendingInput = z.strictObject({ limit: z.int().min(1).max(MAX_PENDING).default(20) });

export const listPendingTool = mcpTool({
  name: 'list_pending',
  title: 'List plans that wait',
  description:
    'Plans that wait for a person: those of your teams’ triage and automations, and what agents of yours have proposed. Nearest end first.',
  scope: 'ai:chat',
  input: PendingInput,
  readOnly: true,
  async call(ctx, { limit }) {
    const { pending, total } = (await listPending(ctx, { limit })).body;
    // Whether a person may confirm it says nothing to an agent, which never may.
    const { rows, cut } = fitRows(pending.map(({ can_confirm: _never, ...plan }) => plan));
    return { pending: rows, total, ...(cut && { cut }) };
  },
});

const PlanInput = z.strictObject({ action_id: Id });

export const getPlanTool = mcpTool({
  name: 'get_plan',
  title: 'Get a plan',
  description:
    'One plan by its action_id, in any status: whether it was applied, discarded, became stale or expired, and by whom.',
  scope: 'ai:chat',
  input: PlanInput,
  readOnly: true,
  call: async (ctx, { action_id }) => ({ confirm_url: confirmUrl(ctx, action_id), ...(await getPlan(ctx, action_id)) }),
});

/**
 * Takes back what this token has proposed.
 * @throws RESOURCE_NOT_FOUND another plan | RESOURCE_CONFLICT no longer staged
 */
async function discard(ctx: Context, { action_id }: z.output<typeof PlanInput>): Promise<Record<string, unknown>> {
  const [own] = await run<{ status: string }>(ctx.db, proposedPlanStatement, [action_id, requireUser(ctx), requireToken(ctx)]);
  if (own && own.status !== 'staged') throw conflict(`The plan is ${own.status}`);
  if (own) await discardPlan(ctx, { session_id: null, action_id });
  return readProposed(ctx, action_id);
}

export const discardPlanTool = mcpTool({
  name: 'discard_plan',
  title: 'Discard your own proposal',
  description: 'Takes back a plan that this token has proposed and nobody has decided. It changes nothing else.',
  scope: 'ai:chat',
  input: PlanInput,
  readOnly: false,
  call: discard,
});
