import { run } from '../../../db/statement.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../platform/context.js';
import { dryRun } from '../../platform/database/dry-run.js';
import { conflict, invalid, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { enqueue } from '../../platform/outbox/outbox.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { canonicalJson, hashText } from '../../gate/staging/canonical.js';
import { type PlanContent, planHash } from './plan-content.js';
import { notifyStaged } from './notify-plan.js';
import type { Proposal, Staged } from './proposal.js';
import { planRisk, withManyDeletions } from './rules.js';
import { type ActionPlan, MAX_ACTIONS, MAX_PLAN_BYTES } from './schema.js';
import type { PlanSource } from '../../gate/work-actions/action.js';
import { insertPlanStatement, lockSessionStatement, stagedInTeamsStatement, stagingStatement } from './stage-plan.sql.js';
import { buildSummary } from './summarize.js';
import { Trial } from './try-actions.js';

/** Staged plans of one session; the session of a token has the limit of its teams. */
const MAX_STAGED_IN_SESSION = 20;
/** Staged plans in one team: of its members' own sessions, and as many of its own. */
const MAX_STAGED_IN_TEAM = 200;
/** Those of one person, or of one source of the team's own: nobody, and no stranger whose builds fail, takes all the room. */
const MAX_SHARE = MAX_STAGED_IN_TEAM / 2;
const DAY_MS = 86_400_000;
/** Actions of a proposal that are read at all. */
const MAX_PROPOSED = 10 * MAX_ACTIONS;

interface Session extends Record<string, unknown> {
  session_id: string;
  kind: string;
  owner_id: string | null;
  team_id: string | null;
}
interface Staging extends Record<string, unknown> {
  expires_at: Date;
  remind_at: Date | null;
  staged: number;
}

/** @throws RESOURCE_NOT_FOUND the session was deleted | RESOURCE_CONFLICT too many staged plans */
async function openStaging(ctx: Context, { session, lifeHours, expiresAt }: Proposal): Promise<Staging & { session: Session }> {
  const [locked] = await run<Session>(ctx.db, lockSessionStatement, [session.session_id]);
  if (!locked) throw notFound('Session');
  const [staging] = await run<Staging>(ctx.db, stagingStatement, [session.session_id, lifeHours]);
  if (!staging) throw new Error('The statement returns one row');
  const max = locked.kind === 'mcp' ? MAX_STAGED_IN_TEAM : MAX_STAGED_IN_SESSION;
  if (staging.staged >= max)
    throw conflict(`The session has ${max} staged plans`, { detail: 'Confirm or discard one of them first.' });
  if (expiresAt === undefined) return { ...staging, session: locked };
  const remindAt = new Date(expiresAt.getTime() - DAY_MS);
  return { expires_at: expiresAt, remind_at: remindAt > new Date() ? remindAt : null, staged: staging.staged, session: locked };
}

/** @throws RESOURCE_CONFLICT */
async function checkTeams(ctx: Context, teamIds: string[], { owner_id, team_id }: Session, source: PlanSource): Promise<void> {
  const values = [teamIds, team_id !== null, MAX_STAGED_IN_TEAM, owner_id, source];
  const [found] = await run<{ staged: number; share: number }>(ctx.db, stagedInTeamsStatement, values);
  const detail = 'Confirm or discard one of them first.';
  if ((found?.staged ?? 0) >= MAX_STAGED_IN_TEAM) throw conflict(`The team has ${MAX_STAGED_IN_TEAM} staged plans`, { detail });
  if ((found?.share ?? 0) < MAX_SHARE) return;
  const whose = team_id === null ? 'You have' : 'This source has';
  throw conflict(`${whose} ${MAX_SHARE} staged plans in the team`, { detail });
}

/** Performs the actions and takes them back. */
async function tryActions(ctx: Context, proposal: Proposal, actionId: string): Promise<Trial> {
  let trial: Trial | undefined;
  await dryRun(ctx.db, async (db) => {
    const plan = { actionId, planHash: '', depth: 0, behind: [] };
    trial = new Trial({ ...ctx, db }, proposal, plan);
    await trial.tryAll();
  });
  return trial as unknown as Trial;
}

const onlyOne = <T>(values: ReadonlySet<T>): T | null => (values.size === 1 ? ([...values][0] as T) : null);

interface NewPlan {
  content: PlanContent;
  canonical: string;
  hash: Buffer;
  risk: ActionPlan['actions'][number]['risk'];
  teamIds: string[];
  projectId: string | null;
}

/** @throws INVALID_REQUEST the plan is too large */
function composePlan(proposal: Proposal, trial: Trial, actionId: string, expiresAt: Date): NewPlan {
  const actions = withManyDeletions(trial.actions);
  const { session_id, team_id } = proposal.session;
  const content: PlanContent = {
    v: 1,
    action_id: actionId,
    session_id,
    source: proposal.source,
    team_id,
    summary: buildSummary(actions, proposal.undoneActionId != null),
    expires_at: expiresAt.toISOString(),
    actions,
  };
  const canonical = canonicalJson(content);
  if (Buffer.byteLength(canonical) > MAX_PLAN_BYTES) {
    throw invalid(`The plan is larger than ${MAX_PLAN_BYTES.toLocaleString('en')} bytes`, {
      detail: 'Propose fewer or shorter actions.',
    });
  }
  const teamIds = [...trial.teamIds].sort();
  return {
    content,
    canonical,
    hash: planHash(canonical),
    risk: planRisk(actions),
    teamIds,
    projectId: onlyOne(trial.projectIds),
  };
}

interface StagedRow {
  team_id: string | null;
  undo_of: string | null;
  depth: number;
  behind: readonly string[];
}

/** Records the staging: counts and ids only, because the entry of one team must not show texts of another. */
async function recordStaged(ctx: Context, plan: NewPlan, { team_id, undo_of, depth, behind }: StagedRow): Promise<void> {
  const { content, hash, risk, teamIds, projectId } = plan;
  const { action_id, actions, summary, session_id, source } = content;
  const shown = {
    action_id,
    session_id,
    source,
    risk,
    status: 'staged',
    summary,
    team_id,
    project_id: projectId,
    actions: actions.length,
  };
  await recordChange(ctx, {
    team_id: team_id ?? teamIds[0] ?? null,
    project_id: projectId,
    feature: 'ai_agent',
    action: 'stage',
    entity_type: 'agent_plan',
    entity_id: action_id,
    title: summary,
    // A plan of a person is nobody else's news before it is confirmed.
    ...(team_id !== null && { summary: 'staged a plan' }),
    details: {
      plan_hash: hashText(hash),
      source,
      risk,
      summary,
      actions: actions.length,
      team_ids: teamIds,
      undo_of,
      session_id,
    },
    depth,
    causeUserIds: behind,
    event: { type: 'agent.plan_staged', payload: { plan: shown } },
  });
}

/** Writes the plan with its trace and starts its workflow after the commit. */
async function storePlan(
  ctx: Context,
  proposal: Proposal,
  plan: NewPlan,
  { expires_at, remind_at, session }: Staging & { session: Session },
) {
  const { content, canonical, hash, risk, teamIds, projectId } = plan;
  const { action_id, actions, summary, session_id, source } = content;
  const { owner_id, team_id } = session;
  const depth = proposal.depth ?? 0;
  const row = {
    action_id,
    session_id,
    owner_id,
    team_id,
    source,
    summary,
    risk,
    depth,
    expires_at,
    project_id: projectId,
    team_ids: teamIds,
    staged_for: requireUser(ctx),
    token_id: proposal.tokenId ?? null,
    trigger: proposal.trigger ?? null,
    correlation_id: ctx.correlationId,
    remind_at: team_id === null ? null : remind_at,
    undo_of: proposal.undoneActionId ?? null,
    behind: proposal.behind ?? [],
    who: callerJson(ctx),
  };
  await run(ctx.db, insertPlanStatement, [JSON.stringify(row), canonical, hash, JSON.stringify(actions)]);
  await recordStaged(ctx, plan, row);
  await enqueue(ctx, 'plan.start', action_id, { action_id, incarnation: 1 });
  if (source !== 'chat') await notifyStaged(ctx, row, 'plan_staged');
}

/**
 * Stages a plan: performs the proposed actions in a transaction that is rolled back, and stores what they would do. Equal actions are folded
 * and actions without effect are left out. Nothing else is written. Joins the open transaction.
 * @throws RESOURCE_NOT_FOUND the session is deleted, or what an action refers to | INVALID_REQUEST, PERMISSION_DENIED, VALIDATION_ERROR,
 * RESOURCE_CONFLICT an action is refused, with `action_index`; or there are too many actions, bytes or staged plans
 */
export async function stagePlan(ctx: Context, proposal: Proposal): Promise<Staged> {
  if (proposal.actions.length > MAX_PROPOSED) throw invalid(`A plan has at most ${MAX_ACTIONS} actions`);
  return inTransaction(ctx, async (ctx) => {
    const staging = await openStaging(ctx, proposal);
    const actionId = newId();
    const trial = await tryActions(ctx, proposal, actionId);
    if (trial.actions.length === 0) return { plan: null, omitted: trial.omitted };
    const plan = composePlan(proposal, trial, actionId, staging.expires_at);
    await checkTeams(ctx, plan.teamIds, staging.session, proposal.source);
    await storePlan(ctx, proposal, plan, staging);
    const { summary, actions, expires_at } = plan.content;
    return {
      plan: { action_id: actionId, summary, actions, plan_hash: hashText(plan.hash), expires_at },
      omitted: trial.omitted,
    };
  });
}
