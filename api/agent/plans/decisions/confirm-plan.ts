import { run } from '../../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, DomainError } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { countPlans } from '../../../platform/telemetry/metrics.js';
import { agentContext, othersBehind } from '../agent-context.js';
import { planHash, readPlan } from '../plan-content.js';
import { hashText } from '../../../gate/staging/canonical.js';
import { readVersions, seenHash } from '../../../gate/staging/changed-since.js';
import { replaceReferences } from '../../../gate/staging/references.js';
import { refuseAction } from '../refuse-action.js';
import { planRisk } from '../rules.js';
import type { PlanAction } from '../schema.js';
import type { PlanSource } from '../../../gate/work-actions/action.js';
import type { Performed } from '../../../gate/work-actions/action.js';
import { findAction } from '../../../gate/work-actions/catalogue.js';
import { checkShown } from './check-shown.js';
import { chooseActions } from './choose-actions.js';
import { applyPlanStatement, stalePlanStatement, storeResultsStatement } from './decide.sql.js';
import { checkOpen, type LockedPlan, lockPlan, peopleOfPlan, planExpired, wakePlan } from './lock-plan.js';
import { lockTargets, type StaleAction } from '../../../gate/staging/lock-targets.js';
import { authorizePlan } from './policy.js';
import type { ConfirmPlan, DecidedPlan } from './schema.js';

/** A confirmation; without a session it names the plan alone. */
type Confirmation = Omit<ConfirmPlan, 'session_id'> & { session_id: string | null };
type Made = NonNullable<Performed['made']>;

/** What a confirmation came to; the last two are recorded and committed before the error is thrown. */
type Outcome = { decided: DecidedPlan; source: PlanSource } | { stale: StaleAction[]; source: PlanSource } | { damaged: true };

const outdated = () =>
  conflict('The action was proposed to an earlier version of the service', {
    detail: 'Nothing was written. Ask for a new plan.',
  });

const namedActions = (actions: readonly PlanAction[], indexes: readonly number[] | undefined): PlanAction[] =>
  actions.filter(({ index }) => indexes === undefined || indexes.includes(index));

const about = ({ action_id, team_id, team_ids, project_id, summary }: LockedPlan) =>
  ({
    team_id: team_id ?? team_ids[0] ?? null,
    project_id,
    feature: 'ai_agent',
    entity_type: 'agent_plan',
    entity_id: action_id,
    title: summary,
  }) as const;

/** Records that the stored text is not what was hashed: another program wrote to the database. */
async function recordDamage(ctx: Context, plan: LockedPlan): Promise<Outcome> {
  const details = { plan_hash: hashText(plan.plan_hash), found: hashText(planHash(plan.canonical)) };
  await recordChange(ctx, { ...about(plan), action: 'confirm', outcome: 'failure', severity: 'CRITICAL', details });
  return { damaged: true };
}

/** Closes a plan whose targets have changed. */
async function closeStale(ctx: Context, plan: LockedPlan, stale: StaleAction[]): Promise<Outcome> {
  await run(ctx.db, stalePlanStatement, [plan.action_id]);
  const details = { plan_hash: hashText(plan.plan_hash), plan_status: 'stale', stale };
  await recordChange(ctx, { ...about(plan), action: 'confirm', outcome: 'failure', details });
  await wakePlan(ctx, plan);
  return { stale, source: plan.source };
}

/** What the confirmed actions have created, by index in the plan. */
const listIds = (made: ReadonlyMap<number, Made | undefined>): Map<number, string> =>
  new Map([...made].flatMap(([index, found]) => (found ? [[index, found.entity_id]] : [])));

/** Performs one action, if it still does what the plan shows. @throws what the operation throws */
async function performOne(
  ctx: Context,
  action: PlanAction,
  all: readonly PlanAction[],
  made: ReadonlyMap<number, Made | undefined>,
): Promise<Performed> {
  const { tool, entity_id, params: given } = action;
  // The plan may be older than this build, whose operations accept other fields.
  const spec = findAction(tool);
  if (!spec) throw outdated();
  const getId = (k: number): string => made.get(k)?.entity_id ?? '';
  const { entityId, params } = replaceReferences({ entityId: entity_id, params: given }, getId, spec.references);
  const parsed = spec.schema.safeParse(params);
  if (!parsed.success) throw outdated();
  await checkShown(ctx, { action, spec, entityId, params }, { all, chosen: new Set(made.keys()), made: listIds(made) });
  return spec.perform(ctx, entityId ?? '', parsed.data);
}

/** Performs the chosen actions in order. @throws what an operation throws, with `action_index` */
async function performAll(
  ctx: Context,
  plan: LockedPlan,
  all: readonly PlanAction[],
  chosen: readonly PlanAction[],
): Promise<Map<number, Made | undefined>> {
  const made = new Map<number, Made | undefined>();
  const acting = { actionId: plan.action_id, planHash: hashText(plan.plan_hash), depth: plan.depth, behind: peopleOfPlan(plan) };
  for (const action of chosen) {
    const { index } = action;
    const performed = await performOne(agentContext(ctx, acting, index), action, all, made).catch((error: unknown) =>
      refuseAction(error, index),
    );
    made.set(index, performed.made);
  }
  return made;
}

/** Writes the applied plan, its trace, its actions and their results. */
async function apply(
  ctx: Context,
  plan: LockedPlan,
  all: readonly PlanAction[],
  chosen: readonly PlanAction[],
  comment: string | null,
): Promise<DecidedPlan> {
  const { action_id, session_id, source, risk, summary, team_id, project_id, depth } = plan;
  const values = [action_id, requireUser(ctx), plan.plan_hash, comment];
  const [applied] = await run<{ decided_at: Date }>(ctx.db, applyPlanStatement, values);
  if (!applied) throw planExpired(plan);
  const shown = { action_id, session_id, source, risk, status: 'applied', summary, team_id, project_id, actions: chosen.length };
  await recordChange(ctx, {
    ...about(plan),
    action: 'confirm',
    summary: 'applied a plan',
    details: {
      plan_hash: hashText(plan.plan_hash),
      source,
      risk,
      applied: chosen.map(({ index }) => index),
      actions: all.length,
      ...(comment && { comment }),
    },
    depth,
    causeUserIds: othersBehind(ctx, peopleOfPlan(plan)),
    event: { type: 'agent.plan_applied', payload: { plan: shown } },
  });
  const made = await performAll(ctx, plan, all, chosen);
  const rows = all.map(({ index, entity_id }) => {
    const target = replaceReferences({ entityId: entity_id, params: {} }, (k) => made.get(k)?.entity_id ?? '');
    const done = made.has(index);
    return {
      index,
      result: done ? 'applied' : 'skipped',
      made_id: made.get(index)?.entity_id ?? null,
      target_id: done ? target.entityId : null,
    };
  });
  await run(ctx.db, storeResultsStatement, [action_id, JSON.stringify(rows)]);
  await wakePlan(ctx, plan);
  return {
    success: true,
    action_id,
    session_id,
    status: 'applied',
    message: `Applied ${chosen.length} of ${all.length} changes`,
    results: all.map(({ index, entity_type, entity_id }, i) => ({
      index,
      status: made.has(index) ? ('applied' as const) : ('skipped' as const),
      entity_type: made.get(index)?.entity_type ?? entity_type,
      entity_id: made.get(index)?.entity_id ?? rows[i]?.target_id ?? entity_id,
    })),
    decided_by: requireUser(ctx),
    decided_at: applied.decided_at.toISOString(),
    correlation_id: ctx.correlationId,
  };
}

async function decide(
  ctx: Context,
  { session_id, action_id, action_indexes, plan_hash, seen_hash, comment = null }: Confirmation,
): Promise<Outcome> {
  const { plan, seats } = await lockPlan(ctx, action_id, session_id);
  const isDamaged = !planHash(plan.canonical).equals(plan.plan_hash);
  const actions = isDamaged ? [] : readPlan(plan.canonical).actions;
  // The role first: a caller without it learns nothing about the plan's state.
  authorizePlan(ctx, 'approved', plan, planRisk(namedActions(actions, action_indexes)), seats);
  checkOpen(plan);
  if (plan.status === 'expired' || plan.is_past) throw planExpired(plan);
  if (isDamaged) return recordDamage(ctx, plan);
  if (plan_hash != null && plan_hash !== hashText(plan.plan_hash)) {
    throw conflict('The plan differs from the one that you have read', { extra: { plan_status: plan.status } });
  }
  if (seen_hash != null && seen_hash !== seenHash(hashText(plan.plan_hash), actions, await readVersions(ctx, actions))) {
    throw conflict('What the plan would change has changed since you have read it', { extra: { plan_status: plan.status } });
  }
  const chosen = chooseActions(actions, action_indexes);
  const stale = await lockTargets(ctx, chosen);
  if (stale.length > 0) return closeStale(ctx, plan, stale);
  return { decided: await apply(ctx, plan, actions, chosen, comment), source: plan.source };
}

/**
 * Applies a staged plan, or a part of it: the ordinary operations as the caller, in one transaction. What is executed is parsed from the text
 * that was hashed. Any refusal leaves the plan staged and nothing written.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED role, or the proposing token | RESOURCE_CONFLICT decided, another hash, or
 * stale, which closes the plan | PLAN_EXPIRED | INVALID_REQUEST indexes | what an operation throws, with `action_index`
 */
export async function confirmPlan(ctx: Context, input: Confirmation): Promise<DecidedPlan> {
  const outcome = await inTransaction(ctx, (ctx) => decide(ctx, input));
  if ('decided' in outcome) {
    countPlans(outcome.source, 'applied');
    return outcome.decided;
  }
  if ('stale' in outcome) {
    const { stale, source } = outcome;
    countPlans(source, 'stale');
    throw conflict('The plan is stale: what it would change has changed', {
      detail: 'Nothing was written and the plan is closed. Ask for a new one.',
      extra: { plan_status: 'stale', stale },
    });
  }
  throw new DomainError('INTERNAL_ERROR', 'The stored plan is damaged; nothing was written');
}
