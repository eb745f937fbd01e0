import { lastChanges } from '../work/activity-feed/last-changes.js';
import { getPlanToDecide, getPlansToDecide, type PlanToDecide } from '../agent/plans/waiting/get-plan.js';
import { webAddress } from '../platform/config.js';
import { type Context, requireUser } from '../platform/context.js';
import { withVisibleNames } from '../platform/validation/invisible.js';
import { namesAt } from '../automation/runs/names-at.js';
import { readVersions, seenHash } from '../gate/staging/changed-since.js';
import { idsIn, presentActions } from '../gate/staging/present.js';
import type { Decision, DecisionState } from './schema.js';

const STATES: Readonly<Record<PlanToDecide['status'], DecisionState>> = {
  staged: 'pending',
  applied: 'approved',
  discarded: 'rejected',
  stale: 'stale',
  expired: 'expired',
};

const getState = ({ status, expires_at, closed_reason }: PlanToDecide): DecisionState => {
  if (status === 'staged' && Date.parse(expires_at) <= Date.now()) return 'expired';
  return closed_reason !== null && closed_reason !== 'person' ? 'cancelled' : STATES[status];
};

/** Returns plans as decisions. */
async function present(ctx: Context, plans: readonly PlanToDecide[]): Promise<Decision[]> {
  const userId = requireUser(ctx);
  const [names, versions, changes] = await Promise.all([
    namesAt(
      ctx,
      plans.map(({ team_id, actions }) => ({ place: team_id ?? userId, items: idsIn(actions).item, users: idsIn(actions).user })),
    ),
    readVersions(
      ctx,
      plans.flatMap(({ actions }) => actions),
    ),
    lastChanges(
      ctx,
      plans.flatMap(({ actions, stale, created_at: since }) =>
        stale.flatMap(({ index }) => {
          const { entity_type, entity_id } = actions[index] ?? {};
          return entity_id && (entity_type === 'task' || entity_type === 'project') ? [{ entity_type, entity_id, since }] : [];
        }),
      ),
    ),
  ]);
  return plans.map((plan, at): Decision => {
    const [isStaged, stale] = [plan.status === 'staged', new Set(plan.stale.map(({ index }) => index))];
    const actions = plan.actions.map((action) => {
      const change = changes.get(action.entity_id ?? '');
      const by = change?.user_name ? withVisibleNames(change.user_name) : null;
      return { ...action, changed: stale.has(action.index) ? { by, at: change?.timestamp ?? null } : null };
    });
    return {
      kind: 'plan',
      id: plan.action_id,
      gate_index: null,
      title: plan.summary,
      message: plan.note && withVisibleNames(plan.note),
      team_id: plan.team_id,
      requested_by: plan.team_id === null ? userId : null,
      requested_at: plan.created_at,
      expires_at: plan.expires_at,
      state: getState(plan),
      requirement: {
        role: plan.team_id === null ? null : plan.risk === 'high' ? 'manager' : 'member',
        approvals: 1,
        allow_self: true,
        signed_in: plan.signed_in,
      },
      approvals: [],
      decided_by: plan.decided_by,
      decided_at: plan.decided_at,
      comment: plan.comment,
      staged_hash: plan.plan_hash,
      seen_hash: isStaged ? seenHash(plan.plan_hash, plan.actions, versions) : null,
      actions: presentActions(actions, names[at] ?? {}),
      behind: plan.behind,
      approvers_missing: 0, // A team always has an admin, also behind it.
      can_decide: isStaged && plan.can_confirm,
      started_with_event: false,
      url: webAddress(ctx.config, `/app/approvals/plan/${plan.action_id}`),
    };
  });
}

/** Plans that are read at once: each may be large. */
const CHUNK = 10;
/** Longest actions in a list, UTF-16 units of their JSON text; a plan by its id has all. */
const MAX_LISTED = 16_000;

/** Returns plans by id, as far as the caller may see them; without actions that are too long for a list. */
export async function planDecisions(ctx: Context, ids: readonly string[]): Promise<Map<string, Decision>> {
  const decisions = new Map<string, Decision>();
  for (let at = 0; at < ids.length; at += CHUNK) {
    for (const decision of await present(ctx, await getPlansToDecide(ctx, ids.slice(at, at + CHUNK)))) {
      const isShort = JSON.stringify(decision.actions).length <= MAX_LISTED;
      decisions.set(decision.id, isShort ? decision : { ...decision, actions: null });
    }
  }
  return decisions;
}

/** @throws RESOURCE_NOT_FOUND unknown or foreign | PERMISSION_DENIED it changes a team that the caller has left */
export async function getPlanDecision(ctx: Context, id: string): Promise<Decision> {
  const [decision] = await present(ctx, [await getPlanToDecide(ctx, id)]);
  return decision as Decision;
}
