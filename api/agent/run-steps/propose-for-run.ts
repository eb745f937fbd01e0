import { run } from '../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { DomainError, invalid } from '../../platform/errors.js';
import type { Proposal, ProposedAction } from '../plans/proposal.js';
import { stagePlan } from '../plans/stage-plan.js';
import { type ReadableLink, readLinks } from '../sessions/read-links.js';
import { readByRules } from '../turns/reading/read-world.js';
import { stepProgressStatement } from './automation-session.sql.js';
import { linkItems, openStepSession, type StepInstruction, stepProposal, getSubject } from './step-session.js';

/** Reads the instruction by the grammar. @throws INVALID_REQUEST it is not understood, or ambiguous */
async function readInstruction(ctx: Context, instruction: string, links: readonly ReadableLink[]): Promise<ProposedAction[]> {
  if (links.length === 0) throw invalid('The agent has no linked item to work on', { extra: { reason: 'nothing_linked' } });
  const { outcome } = await readByRules(ctx, links, { userId: requireUser(ctx), timezone: 'UTC' }, instruction);
  if (outcome.kind === 'plan') return outcome.actions;
  const hint = ctx.config.AI_PROVIDER === 'rules' ? '' : ' by its rules; a model answers once every linked team allows it';
  const message = outcome.kind === 'question' ? outcome.text : `The agent does not understand the instruction${hint}`;
  throw invalid(message, { extra: { reason: 'instruction_unclear' } });
}

async function stage(ctx: Context, step: StepInstruction, session: Proposal['session']): Promise<string> {
  await linkItems(ctx, step, session);
  const { readable } = await readLinks(ctx, session.session_id, requireUser(ctx));
  const actions = await readInstruction(ctx, step.instruction, readable);
  const { plan } = await stagePlan(ctx, stepProposal(step, session, actions));
  if (!plan) throw new DomainError('RESOURCE_CONFLICT', 'Nothing would change', { extra: { reason: 'nothing_to_do' } });
  return plan.action_id;
}

/**
 * Stages the plan of one step of a run by the rules, with the permissions of the automation's creator, who is the context's user. It changes
 * nothing else: who may confirm it decides. Repeatable: a later attempt finds the first plan. Returns its id.
 * @throws DomainError with `reason`: `nothing_linked`, `instruction_unclear` or `nothing_to_do`; and what `stagePlan` throws
 */
export function proposeForRun(ctx: Context, step: StepInstruction): Promise<string> {
  return inTransaction(ctx, async (ctx) => {
    const session = await openStepSession(ctx, step);
    const [earlier] = await run<{ action_id: string | null }>(ctx.db, stepProgressStatement, [getSubject(step)]);
    return earlier?.action_id ?? stage(ctx, step, session);
  });
}
