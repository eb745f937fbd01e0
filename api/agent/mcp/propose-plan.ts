import { createHash } from 'node:crypto';
import { z } from 'zod';
import { run } from '../../../db/statement.js';
import { webAddress } from '../../platform/config.js';
import { type Context, requireUser } from '../../platform/context.js';
import { conflict, invalidFields, notFound } from '../../platform/errors.js';
import { Text } from '../../platform/fields.js';
import { hashText } from '../../gate/staging/canonical.js';
import { readPlan } from '../plans/plan-content.js';
import type { Proposal, Staged } from '../plans/proposal.js';
import { hiddenCharacter } from '../../gate/staging/hidden-character.js';
import { getAction, PROPOSABLE } from '../../gate/work-actions/catalogue.js';
import { paramsSchema } from '../../gate/work-actions/params-schema.js';
import { MAX_ACTIONS } from '../plans/schema.js';
import { stagePlan } from '../plans/stage-plan.js';
import {
  addNoteStatement,
  createTokenSessionStatement,
  lockTokenSessionStatement,
  planOfKeyStatement,
  proposedPlanStatement,
  setKeyStatement,
} from './proposal.sql.js';
import { mcpTool } from './tool.js';

const LIFE_HOURS = 7 * 24;
const MAX_NOTE = 500;

/** The parameters of each tool, for agents. They are checked when the plan is staged. */
const toToolSchema = PROPOSABLE.map((tool) => {
  const { kind, words } = getAction(tool);
  return {
    description: words.proposal ?? tool,
    properties: { tool: { const: tool }, params: { type: 'object', additionalProperties: false, ...paramsSchema(tool) } },
    required: kind === 'create' ? [] : ['entity_id'],
  };
});

const Input = z.strictObject({
  actions: z
    .array(
      z
        .strictObject({
          tool: z.enum(PROPOSABLE),
          entity_id: z.string().max(160).nullish().meta({ description: 'Id of what changes; absent for a creation' }),
          params: z.record(z.string(), z.unknown()).meta({
            description:
              'Fields of the change, as in the REST API, without id and version. "$0" in an id names what action 0 of this plan creates',
          }),
        })
        .meta({ oneOf: toToolSchema }),
    )
    .min(1)
    .max(MAX_ACTIONS),
  note: Text.min(1).max(MAX_NOTE).nullish().meta({ description: 'Why, for the person who decides' }),
  key: Text.min(1).max(255).nullish().meta({ description: 'A name of your own: sent again, the same proposal is the same plan' }),
});
type Input = z.output<typeof Input>;

/** Returns the token of an agent's call. */
export function requireToken({ actor }: Context): string {
  if (actor.type !== 'pat') throw new Error('Only a token proposes over MCP');
  return actor.tokenId;
}

async function lockTokenSession(ctx: Context, tokenId: string): Promise<Proposal['session']> {
  await run(ctx.db, createTokenSessionStatement, [requireUser(ctx), tokenId]);
  const [session] = await run<Proposal['session'] & Record<string, unknown>>(ctx.db, lockTokenSessionStatement, [tokenId]);
  // Deleted between the two statements.
  if (!session) throw conflict('The session of this token was just deleted; propose again');
  return session;
}

/** Address at which the owner of the plan decides. */
export const confirmUrl = (ctx: Context, actionId: string): string => webAddress(ctx.config, `/app/approvals/plan/${actionId}`);

interface ProposedPlanRow extends Record<string, unknown> {
  canonical: string;
  plan_hash: Buffer;
  status: string;
  is_over: boolean;
  expires_at: Date;
}

/** Returns a plan that this token has proposed, as it is now. @throws RESOURCE_NOT_FOUND */
export async function readProposed(ctx: Context, actionId: string): Promise<Record<string, unknown>> {
  const [row] = await run<ProposedPlanRow>(ctx.db, proposedPlanStatement, [actionId, requireUser(ctx), requireToken(ctx)]);
  if (!row) throw notFound('Plan');
  const { action_id, summary, actions, expires_at } = readPlan(row.canonical);
  const status = row.status === 'staged' && row.is_over ? 'expired' : row.status;
  return {
    action_id,
    status,
    summary,
    confirm_url: confirmUrl(ctx, action_id),
    plan_hash: hashText(row.plan_hash),
    expires_at,
    actions,
  };
}

const hashOfProposal = ({ actions, note }: Input): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([actions, note ?? null]))
    .digest();

/** Returns the plan that the key named before. @throws RESOURCE_CONFLICT it named another proposal */
async function repeated(ctx: Context, sessionId: string, input: Input): Promise<Record<string, unknown> | undefined> {
  if (input.key == null) return undefined;
  const values = [sessionId, input.key];
  const [found] = await run<{ action_id: string; proposal_hash: Buffer }>(ctx.db, planOfKeyStatement, values);
  if (!found) return undefined;
  if (!found.proposal_hash.equals(hashOfProposal(input))) {
    throw conflict('This key named another proposal', { detail: 'Use another key for another proposal.' });
  }
  return readProposed(ctx, found.action_id);
}

function checkNote(note: string | null | undefined): void {
  const hidden = hiddenCharacter(note);
  if (hidden === undefined) return;
  throw invalidFields([{ field: 'arguments.note', message: `note contains the hidden character ${hidden}`, type: 'hidden' }]);
}

const nothingToDo = ({ omitted }: Staged) => ({ action_id: null, status: 'empty', message: 'Nothing would change', omitted });

/**
 * Stages what an agent proposes, for the token's owner to decide.
 * @throws what `stagePlan` throws; RESOURCE_CONFLICT a key that named another proposal
 */
async function propose(ctx: Context, input: Input): Promise<Record<string, unknown>> {
  checkNote(input.note);
  const tokenId = requireToken(ctx);
  const session = await lockTokenSession(ctx, tokenId);
  const before = await repeated(ctx, session.session_id, input);
  if (before) return before;
  const staged = await stagePlan(ctx, {
    session,
    source: 'mcp',
    actions: input.actions.map(({ entity_id = null, ...action }) => ({ ...action, entity_id })),
    lifeHours: LIFE_HOURS,
    onRefusal: 'refuse',
    tokenId,
  });
  if (!staged.plan) return nothingToDo(staged);
  const { action_id } = staged.plan;
  if (input.note != null) await run(ctx.db, addNoteStatement, [session.session_id, action_id, input.note]);
  if (input.key != null) await run(ctx.db, setKeyStatement, [action_id, input.key, hashOfProposal(input)]);
  return { ...(await readProposed(ctx, action_id)), omitted: staged.omitted };
}

export const proposePlanTool = mcpTool({
  name: 'propose_plan',
  title: 'Propose changes',
  description:
    'Stages up to 50 changes as one plan, for the person to confirm or discard at confirm_url. Nothing changes before that. Each action is checked by a dry run; one that is refused refuses the proposal and is named by action_index.',
  scope: 'ai:chat',
  input: Input,
  readOnly: false,
  call: propose,
});
