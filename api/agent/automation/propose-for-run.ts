import { Temporal } from 'temporal-polyfill';
import { AgentLink } from '../../../db/models/agent-session.js';
import { run } from '../../../db/statement.js';
import { authorize, type Seat } from '../../core/access.js';
import { type Context, inTransaction, userOf } from '../../core/context.js';
import { DomainError, forbidden, invalid, notFound } from '../../core/errors.js';
import { parse } from '../grammar/parse.js';
import { namesIn, resolve } from '../grammar/resolve.js';
import type { LinkedItem } from '../grammar/tokens.js';
import type { Proposal, ProposedAction } from '../plans/proposal.js';
import { stagePlan } from '../plans/stage-plan.js';
import { readLinks } from '../sessions/read-links.js';
import type { LinkItem } from '../sessions/schema.js';
import { linkableItemStatement } from '../sessions/session.sql.js';
import { findMembers } from '../turns/find-members.js';
import { openStepSessionStatement, planOfStepStatement } from './automation-session.sql.js';

const LIFE_HOURS = 7 * 24;
const MAX_TITLE = 100;

/** What one step of a run asks of the agent. */
export interface StepInstruction {
  run_id: string;
  index: number;
  automation_id: string;
  automation_name: string;
  /** Null for a personal automation, whose plan is its creator's own. */
  team_id: string | null;
  instruction: string;
  links: readonly LinkItem[];
  /** Depth of the step in the chain of automations: the events of its plan carry it, so that a loop ends. */
  depth: number;
}

interface Linkable extends Record<string, unknown> {
  team_id: string;
  seat: Seat | null;
}

/**
 * Links an item with the creator's permissions. A team's automation reaches items of its team only, as with every other action: others than
 * its creator can edit it, and an event can choose the item.
 */
async function link(ctx: Context, sessionId: string, { item_type, item_id }: LinkItem, teamId: string | null): Promise<void> {
  const [item] = await run<Linkable>(ctx.db, linkableItemStatement, [item_id, item_type, userOf(ctx)]);
  if (!item) throw notFound('Linked item');
  authorize('agent.link', item.seat);
  if (teamId !== null && item.team_id !== teamId) throw forbidden('A team automation can only act in its team');
  await AgentLink.query(ctx.db)
    .insert({ session_id: sessionId, item_type, item_id, linked_by: userOf(ctx) })
    .onConflict(['session_id', 'item_type', 'item_id'])
    .ignore();
}

/** Reads the instruction by the grammar. @throws INVALID_REQUEST it is not understood, or ambiguous */
async function readInstruction(ctx: Context, instruction: string, items: readonly LinkedItem[]): Promise<ProposedAction[]> {
  if (items.length === 0) throw invalid('The agent has no linked item to work on', { extra: { reason: 'nothing_linked' } });
  const clauses = parse(instruction, items, Temporal.Now.plainDateISO('UTC').toString());
  const teams = items.map(({ team_id }) => team_id);
  const membersNamed = await findMembers(ctx, teams, namesIn(clauses));
  const outcome = resolve(clauses, { items, userId: userOf(ctx), membersNamed });
  if (outcome.kind === 'plan') return outcome.actions;
  const message = outcome.kind === 'question' ? outcome.text : 'The agent does not understand the instruction';
  throw invalid(message, { extra: { reason: 'instruction_unclear' } });
}

async function stage(ctx: Context, step: StepInstruction, session: Proposal['session']): Promise<string> {
  for (const each of step.links) await link(ctx, session.session_id, each, step.team_id);
  const { readable } = await readLinks(ctx, session.session_id, userOf(ctx));
  const items = readable.map(({ item_type: type, item_id: id, linked_at: _at, ...item }): LinkedItem => ({ ...item, type, id }));
  const { plan } = await stagePlan(ctx, {
    session,
    source: 'automation',
    actions: await readInstruction(ctx, step.instruction, items),
    lifeHours: LIFE_HOURS,
    onRefusal: 'refuse',
    trigger: { type: 'automation', automation_id: step.automation_id, run_id: step.run_id, action_index: step.index },
    depth: step.depth,
  });
  if (!plan) throw new DomainError('RESOURCE_CONFLICT', 'Nothing would change', { extra: { reason: 'nothing_to_do' } });
  return plan.action_id;
}

/**
 * Stages the plan of one step of a run, with the permissions of the automation's creator, who is the context's user. It changes nothing else:
 * who may confirm it decides. Repeatable: a later attempt finds the first plan. Returns its id.
 * @throws DomainError with `reason`: `nothing_linked`, `instruction_unclear` or `nothing_to_do`; and what `stagePlan` throws
 */
export function proposeForRun(ctx: Context, step: StepInstruction): Promise<string> {
  return inTransaction(ctx, async (ctx) => {
    const subject = `run:${step.run_id}:${step.index}`;
    const owner = step.team_id === null ? userOf(ctx) : null;
    const title = step.automation_name.slice(0, MAX_TITLE).toWellFormed();
    const values = [owner, step.team_id, subject, title];
    const [session] = await run<Proposal['session'] & Record<string, unknown>>(ctx.db, openStepSessionStatement, values);
    if (session) return stage(ctx, step, session);
    const [earlier] = await run<{ action_id: string }>(ctx.db, planOfStepStatement, [subject]);
    if (!earlier) throw new Error('A session of a step is committed with its plan');
    return earlier.action_id;
  });
}
