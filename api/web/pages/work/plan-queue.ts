import type { PlanToDecide } from '../../../agent/plans/waiting/get-plan.js';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import { listApplied, listPendingAfter } from '../../../agent/plans/waiting/list-pending.js';
import type { PendingPlan } from '../../../agent/plans/waiting/schema.js';
import { lastChanges } from '../../../activity/last-changes.js';
import type { User } from '../../../auth/schema.js';
import type { Context } from '../../../core/context.js';
import { withVisibleNames } from '../../../core/validation/invisible.js';
import { placesOf } from '../../../graph/item-place.js';
import type { Approval, ApprovalPage } from '../../../runs/approvals/list-approvals.js';
import { namesIn, teamNamesOf } from '../../wording/names.js';
import { itemIdsOf, lineContext, linesOf, type ShownLine, staleTargetsOf } from '../agent/plan-lines.js';

/** Applied plans that the page offers to take back. */
const APPLIED = 5;

/** An entry of the queue: a gate of a run, or a plan of the agent. */
export type Waiting = { gate: Approval; plan?: undefined } | { plan: PendingPlan; gate?: undefined };

const deadlineOf = ({ gate, plan }: Waiting): string => (gate ?? plan).expires_at;

/** A part of the queue, with the last entry of each kind on it or before it, after which the next part begins. */
export interface QueuePage {
  entries: Waiting[];
  next: { after: string | null; plan: string | null } | undefined;
}

/** Merges gates and plans, nearest deadline first. Each list is in this order and may be longer than the page. */
export function mergeQueue(
  { approvals, hasMore }: ApprovalPage,
  plans: { plans: PendingPlan[]; hasMore: boolean },
  size: number,
  cursor: { after: string | null; plan: string | null },
): QueuePage {
  const all: Waiting[] = [...approvals.map((gate) => ({ gate })), ...plans.plans.map((plan) => ({ plan }))];
  all.sort((a, b) => (deadlineOf(a) < deadlineOf(b) ? -1 : 1));
  const entries = all.slice(0, size);
  const isWhole = all.length <= size && !hasMore && !plans.hasMore;
  const last = {
    after: entries.findLast(({ gate }) => gate)?.gate?.run_id ?? cursor.after,
    plan: entries.findLast(({ plan }) => plan)?.plan?.action_id ?? cursor.plan,
  };
  return { entries, next: isWhole ? undefined : last };
}

/** Reads the plans that follow the plan `after`. */
export const readPlans = (ctx: Context, size: number, after: string | null) => listPendingAfter(ctx, size, after);

const ORIGINS: Readonly<Record<PendingPlan['source'], string>> = {
  chat: 'Agent',
  overnight_triage: 'Overnight triage',
  ci_failure_triage: 'CI triage',
  automation: 'Automation',
  mcp: 'Outside agent',
};

/** A plan as its card shows it. */
export interface PlanCard
  extends Pick<PlanRecord, 'action_id' | 'session_id' | 'summary' | 'status' | 'expires_at' | 'plan_hash'> {
  lines: ShownLine[];
  /** Who proposed it, with the team in which it would change something. */
  origin: string;
  note: string | null;
  created_at: string;
  decided_at: string | null;
  undo_of: string | null;
  undone_by: string | null;
  canConfirm: boolean;
}

/** Returns the plans that the page offers to take back. */
export const readApplied = (ctx: Context): Promise<PlanRecord[]> => listApplied(ctx, APPLIED);

/** Returns the cards of plans by id and those of `recent` ones, with the names of users and items that their changes mention. */
export async function cardsOf(
  ctx: Context,
  me: User,
  waiting: readonly (PendingPlan | PlanToDecide)[],
  recent: readonly PlanRecord[] = [],
): Promise<{ cards: Record<string, PlanCard>; applied: PlanCard[] }> {
  const applied = recent.filter(({ undone_by }) => undone_by === null);
  const all = [...waiting, ...applied];
  const [members, places, changes] = await Promise.all([
    namesIn(ctx, me, all.some(({ team_id }) => team_id === null) ? me.teams : all),
    placesOf(ctx, [...new Set(all.flatMap(itemIdsOf))]),
    lastChanges(ctx, waiting.flatMap(staleTargetsOf)),
  ]);
  // A plan is listed only to members of every team that it would change; an item of another team keeps its id.
  const own = new Set(me.teams.map(({ team_id }) => team_id));
  const titles = [...places.values()]
    .filter(({ team_id }) => own.has(team_id))
    .map(({ item_id, title }) => [item_id, title] as const);
  const context = lineContext({ ...members, ...Object.fromEntries(titles) }, me.user_id, changes);
  const teams = teamNamesOf(me);
  const cardOf = (plan: PendingPlan | PlanRecord): PlanCard => ({
    action_id: plan.action_id,
    session_id: plan.session_id,
    summary: plan.summary,
    status: 'status' in plan ? plan.status : 'staged',
    expires_at: plan.expires_at,
    plan_hash: plan.plan_hash,
    lines: linesOf({ actions: plan.actions, stale: plan.stale, results: 'results' in plan ? plan.results : null }, context),
    origin: [
      ORIGINS[plan.source],
      ...(plan.source === 'mcp' && 'session_title' in plan && plan.session_title
        ? [`“${withVisibleNames(plan.session_title)}”`]
        : []),
      plan.team_id === null ? '' : ` · ${teams[plan.team_id] ?? ''}`,
    ]
      .join(' ')
      .trim(),
    note:
      'note' in plan && plan.note && plan.source !== 'overnight_triage' && plan.source !== 'ci_failure_triage'
        ? withVisibleNames(plan.note)
        : null,
    created_at: plan.created_at,
    decided_at: 'decided_at' in plan ? plan.decided_at : null,
    undo_of: plan.undo_of,
    undone_by: 'undone_by' in plan ? plan.undone_by : null,
    canConfirm: 'can_confirm' in plan ? plan.can_confirm : true,
  });
  return { cards: Object.fromEntries(waiting.map((plan) => [plan.action_id, cardOf(plan)])), applied: applied.map(cardOf) };
}
