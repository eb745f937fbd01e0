import { isDeepStrictEqual } from 'node:util';
import { defineStatement, run } from '../../../../db/statement.js';
import { authorize, requireSession } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, invalid } from '../../../platform/errors.js';
import { hashText } from '../../../gate/staging/canonical.js';
import { readPlan } from '../plan-content.js';
import type { ProposedAction } from '../proposal.js';
import type { PlanAction } from '../schema.js';
import { stagePlan } from '../stage-plan.js';
import { supersedePlans } from './close-plans.js';
import { checkOpen, lockPlan, peopleOfPlan, planExpired } from './lock-plan.js';
import type { EditedPlan, EditPlan } from './schema.js';

/** $1 = plan id, $2 = user ids. */
const editedByStatement = defineStatement({
  name: 'plan_edited_by',
  text: 'update agent_plans set edited_by = $2 where action_id = $1',
});

const buildParams = ({ params }: Pick<ProposedAction, 'params'>): unknown => params;

/** The versions that the actions of a plan build on, by target. */
const collectVersions = (actions: readonly PlanAction[]): Map<string, number> =>
  new Map(
    actions.flatMap(({ entity_id, expected_version }): [string, number][] =>
      entity_id === null || expected_version === null ? [] : [[entity_id, expected_version]],
    ),
  );

/** Returns the actions with the changes merged into their parameters by key. @throws INVALID_REQUEST an index that the plan lacks */
function merged(actions: readonly PlanAction[], changes: EditPlan['changes']): ProposedAction[] {
  const byIndex = new Map(changes.map(({ index, params }) => [index, params]));
  for (const index of byIndex.keys())
    if (!actions.some((action) => action.index === index)) throw invalid(`The plan has no action ${index}`);
  return actions.map(({ index, tool, entity_id, params }) => ({ tool, entity_id, params: { ...params, ...byIndex.get(index) } }));
}

/**
 * Stages an edited copy of a plan and closes the plan as superseded. The copy is tried again, as the person who edits it, and waits for a yes of its own
 * until the same time; a copy of an undo still refuses what has changed since. Without changes the same is proposed again on the values of now, and
 * what is refused now is left out. The editor joins the people behind it, and may not confirm a team's plan of high risk.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED role, or a token | RESOURCE_CONFLICT decided, another hash, or nothing is left to change |
 * PLAN_EXPIRED | INVALID_REQUEST, VALIDATION_ERROR an action is refused, with `action_index`
 */
export function editPlan(ctx: Context, actionId: string, { plan_hash, changes }: EditPlan): Promise<EditedPlan> {
  return inTransaction(ctx, async (ctx) => {
    requireSession(ctx.actor);
    const { plan, seats } = await lockPlan(ctx, actionId, null);
    for (const seat of seats.values()) authorize('plan.edit', seat);
    checkOpen(plan);
    if (plan.status === 'expired' || plan.is_past) throw planExpired(plan);
    if (plan_hash !== hashText(plan.plan_hash)) throw conflict('The plan differs from the one that you have read');
    const { session_id, owner_id, team_id, source, token_id, depth, expires_at, undo_of } = plan;
    const { actions } = readPlan(plan.canonical);
    const wanted = merged(actions, changes);
    const isAgain = changes.length === 0;
    if (!isAgain && isDeepStrictEqual(wanted.map(buildParams), actions.map(buildParams)))
      throw invalid('The changes are what the plan says already');
    // First, because it frees the room that the copy takes.
    await supersedePlans(ctx, [actionId], null);
    const { plan: copy, omitted } = await stagePlan(ctx, {
      session: { session_id, owner_id, team_id },
      source,
      actions: wanted,
      lifeHours: 1,
      expiresAt: expires_at,
      ...(undo_of !== null && { undoneActionId: undo_of, expectedVersions: collectVersions(actions) }),
      onRefusal: isAgain ? 'leave_out' : 'refuse',
      tokenId: token_id,
      depth,
      behind: peopleOfPlan(plan),
    });
    if (!copy) throw conflict('Nothing is left to change');
    await run(ctx.db, editedByStatement, [copy.action_id, [...new Set([...plan.edited_by, requireUser(ctx)])]]);
    return { ...copy, session_id, edited_from: actionId, omitted };
  });
}
