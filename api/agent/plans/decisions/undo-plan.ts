import { run } from '../../../../db/statement.js';
import { authorize, requireSession } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { readPlan } from '../plan-content.js';
import type { ProposedAction } from '../proposal.js';
import type { Tool } from '../../../gate/work-actions/catalogue.js';
import { stagePlan } from '../stage-plan.js';
import { type AppliedAction, buildInverse } from './inverse.js';
import { type LockedPlan, lockPlan, peopleOfPlan } from './lock-plan.js';
import type { UndonePlan } from './schema.js';
import { appliedActionsStatement } from './undo-plan.sql.js';

/** Hours that the plan of an undo waits: a person's, a team's. */
const LIFE_HOURS = { chat: 24, other: 168 } as const;
const NAMED_REASONS = 3;

interface Result extends Record<string, unknown> {
  index: number;
  result: 'applied' | 'skipped' | null;
  made_id: string | null;
  version_after: number | null;
  undone_by: string | null;
}

interface Inverses {
  actions: ProposedAction[];
  /** Index in the applied plan, by position in `actions`. */
  indexes: number[];
  /** Versions that the plan left. */
  versions: Map<string, number>;
  undoneBy: string | null;
}

/** Returns the inverses of the applied actions, the last one first. */
async function readInverses(ctx: Context, plan: LockedPlan): Promise<Inverses> {
  const rows = await run<Result>(ctx.db, appliedActionsStatement, [plan.action_id]);
  const results = new Map(rows.map((row) => [row.index, row]));
  const inverses: Inverses = { actions: [], indexes: [], versions: new Map(), undoneBy: rows[0]?.undone_by ?? null };
  for (const action of readPlan(plan.canonical).actions.toReversed()) {
    const row = results.get(action.index);
    if (row?.result !== 'applied') continue;
    const applied: AppliedAction = { ...action, made_id: row.made_id };
    const inverse = buildInverse(applied);
    if (!inverse) continue;
    inverses.actions.push({ ...inverse, params: settable(inverse.tool, inverse.params) });
    inverses.indexes.push(action.index);
    const target = inverse.entity_id ?? null;
    if (target !== null && row.version_after !== null) inverses.versions.set(target, row.version_after);
  }
  return inverses;
}

/** Drops facts that no operation sets: how many subtasks a deletion took. */
const settable = (tool: Tool, params: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(params).filter(([field]) => !(tool === 'task.update' && field.startsWith('subtasks_'))));

/**
 * Stages the plan that takes an applied one back. It waits for a confirmation of its own; a target that has changed since makes its action stale.
 * @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED | RESOURCE_CONFLICT not applied, undone already, or nothing can be undone
 */
export function undoPlan(ctx: Context, actionId: string): Promise<UndonePlan> {
  return inTransaction(ctx, async (ctx) => {
    const { plan, seats } = await lockPlan(ctx, actionId, null);
    if (plan.signed_in) requireSession(ctx.actor);
    for (const seat of seats.values()) authorize('plan.undo', seat);
    if (plan.status !== 'applied') throw conflict(`The plan is ${plan.status}; only an applied plan can be undone`);
    const { actions, indexes, versions, undoneBy } = await readInverses(ctx, plan);
    if (undoneBy !== null) throw conflict('A plan that takes this one back exists already', { extra: { undone_by: undoneBy } });
    const { session_id, owner_id, team_id, source } = plan;
    const { plan: undo, omitted } = await stagePlan(ctx, {
      session: { session_id, owner_id, team_id },
      source,
      actions,
      lifeHours: source === 'chat' ? LIFE_HOURS.chat : LIFE_HOURS.other,
      onRefusal: 'leave_out',
      tokenId: ctx.actor.type === 'pat' ? ctx.actor.tokenId : null,
      undoneActionId: actionId,
      behind: [...peopleOfPlan(plan), ...(plan.decided_by === null ? [] : [plan.decided_by])],
      expectedVersions: versions,
    });
    if (!undo) {
      const reasons = [...new Set(omitted.map(({ reason }) => reason))].slice(0, NAMED_REASONS).join('; ');
      throw conflict('Nothing of the plan can be undone', reasons === '' ? {} : { detail: reasons });
    }
    return {
      ...undo,
      session_id,
      undo_of: actionId,
      omitted: omitted.map(({ index, reason }) => ({ index: indexes[index] ?? index, reason })),
    };
  });
}
