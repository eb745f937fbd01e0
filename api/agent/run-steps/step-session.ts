import { AgentLink } from '../../../db/models/agent-session.js';
import { run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { conflict, forbidden, invalid } from '../../platform/errors.js';
import type { Proposal, ProposedAction } from '../plans/proposal.js';
import type { LinkItem } from '../sessions/schema.js';
import { findLinkable } from '../sessions/link-item.js';
import { lockStepSessionStatement, openStepSessionStatement } from './automation-session.sql.js';
import type { TurnStep } from './step-of-turn.sql.js';

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

type StepSession = Proposal['session'];

/** Business key of a step's session: one step has one session, whatever its attempts. */
export const getSubject = ({ run_id, index }: Pick<StepInstruction, 'run_id' | 'index'>): string => `run:${run_id}:${index}`;

/**
 * Returns the team of an item that the creator may link. A team's automation reaches items of its team only, as with every other action:
 * others than its creator can edit it, and an event can choose the item.
 */
async function linkableTeam(ctx: Context, link: LinkItem, teamId: string | null): Promise<string> {
  const item = await findLinkable(ctx, link);
  if (teamId !== null && item.team_id !== teamId) throw forbidden('A team automation can only act in its team');
  return item.team_id;
}

/**
 * Returns the teams of the items of a step, the one that pays first.
 * @throws RESOURCE_NOT_FOUND, PERMISSION_DENIED an item cannot be linked | INVALID_REQUEST `nothing_linked`
 */
export async function teamsOfStep(ctx: Context, { links, team_id }: StepInstruction): Promise<[string, ...string[]]> {
  const teams = new Set<string>();
  for (const each of links) teams.add(await linkableTeam(ctx, each, team_id));
  const [payer, ...others] = teams;
  if (payer === undefined) throw invalid('The agent has no linked item to work on', { extra: { reason: 'nothing_linked' } });
  return [payer, ...others];
}

/**
 * Opens the session of a step, or finds that of an earlier attempt, and locks it until the commit.
 * @throws RESOURCE_CONFLICT `session_deleted` its owner deleted it
 */
export async function openStepSession(ctx: Context, step: StepInstruction): Promise<StepSession> {
  const owner = step.team_id === null ? requireUser(ctx) : null;
  const title = step.automation_name.slice(0, MAX_TITLE).toWellFormed();
  const subject = getSubject(step);
  await run(ctx.db, openStepSessionStatement, [owner, step.team_id, subject, title]);
  const [session] = await run<StepSession & Record<string, unknown>>(ctx.db, lockStepSessionStatement, [subject]);
  if (!session) throw conflict('The session of this step was deleted', { extra: { reason: 'session_deleted' } });
  return session;
}

/** Links the items of a step to its session, with the creator's permissions as they are now. @throws as `teamsOfStep` */
export async function linkItems(ctx: Context, step: StepInstruction, { session_id }: StepSession): Promise<void> {
  for (const each of step.links) {
    await linkableTeam(ctx, each, step.team_id);
    await AgentLink.query(ctx.db)
      .insert({ session_id, ...each, linked_by: requireUser(ctx) })
      .onConflict(['session_id', 'item_type', 'item_id'])
      .ignore();
  }
}

/** Returns what is staged for a step of a run, by the rules and by a model alike. */
export const stepProposal = (
  { run_id, index, automation_id, depth }: Pick<TurnStep, 'run_id' | 'index' | 'automation_id' | 'depth'>,
  session: StepSession,
  actions: readonly ProposedAction[],
): Proposal => ({
  session,
  source: 'automation',
  actions,
  lifeHours: LIFE_HOURS,
  onRefusal: 'refuse',
  trigger: { type: 'automation', automation_id, run_id, action_index: index },
  depth,
});
