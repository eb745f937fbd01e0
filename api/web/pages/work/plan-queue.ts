import type { PlanToDecide } from '../../../agent/plans/waiting/get-plan.js';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';
import { listApplied } from '../../../agent/plans/waiting/list-pending.js';
import type { PendingPlan } from '../../../agent/plans/waiting/schema.js';
import { lastChanges } from '../../../work/activity-feed/last-changes.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { readVersions, seenHash } from '../../../gate/staging/changed-since.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { namesAt } from '../../../automation/runs/names-at.js';
import { mapTeamNames, namesIn } from '../../wording/names.js';
import { listItemIds, lineContext, splitLines, type ShownLine, findStaleTargets } from '../agent/plan-lines.js';

/** Applied plans that the page offers to take back. */
const APPLIED = 5;

const ORIGINS: Readonly<Record<PendingPlan['source'], string>> = {
  chat: 'Agent',
  overnight_triage: 'Overnight triage',
  ci_failure_triage: 'CI triage',
  automation: 'Automation',
  mcp: 'Outside agent',
};

/** A plan as its card shows it. */
export interface PlanCard
  extends Pick<PlanRecord, 'action_id' | 'session_id' | 'team_id' | 'summary' | 'status' | 'expires_at' | 'plan_hash'> {
  lines: ShownLine[];
  /** Who proposed it, with the team in which it would change something. */
  origin: string;
  note: string | null;
  created_at: string;
  decided_at: string | null;
  /** Words of the user who decided. */
  comment: string | null;
  undo_of: string | null;
  undone_by: string | null;
  canConfirm: boolean;
  /** Of a conversation, which shows it too. */
  isOfChat: boolean;
  /** Of the plan and the versions of its targets; null once it has ended. */
  seen_hash: string | null;
}

/** Returns the plans that the page offers to take back. */
export const readApplied = (ctx: Context): Promise<PlanRecord[]> => listApplied(ctx, APPLIED);

/** Returns the cards of plans by id and those of `recent` ones, with the names of users and items that their changes mention. */
export async function buildCards(
  ctx: Context,
  me: User,
  waiting: readonly (PendingPlan | PlanToDecide)[],
  recent: readonly PlanRecord[] = [],
): Promise<{ cards: Record<string, PlanCard>; applied: PlanCard[] }> {
  const applied = recent.filter(({ undone_by }) => undone_by === null);
  const all = [...waiting, ...applied];
  const [members, [named], changes, versions] = await Promise.all([
    namesIn(ctx, me, all.some(({ team_id }) => team_id === null) ? me.teams : all),
    namesAt(ctx, [{ place: me.user_id, items: [...new Set(all.flatMap(listItemIds))], users: [] }]),
    lastChanges(ctx, waiting.flatMap(findStaleTargets)),
    readVersions(
      ctx,
      waiting.flatMap(({ actions }) => actions),
    ),
  ]);
  // A plan is listed only to members of every team that it would change; an item of another team keeps its id.
  const context = lineContext({ ...members, ...named }, me.user_id, changes);
  const teams = mapTeamNames(me);
  const buildCard = (plan: PendingPlan | PlanRecord): PlanCard => ({
    action_id: plan.action_id,
    session_id: plan.session_id,
    team_id: plan.team_id,
    summary: plan.summary,
    status: 'status' in plan ? plan.status : 'staged',
    expires_at: plan.expires_at,
    plan_hash: plan.plan_hash,
    lines: splitLines({ actions: plan.actions, stale: plan.stale, results: 'results' in plan ? plan.results : null }, context),
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
    comment: 'comment' in plan ? plan.comment : null,
    undo_of: plan.undo_of,
    undone_by: 'undone_by' in plan ? plan.undone_by : null,
    canConfirm: 'can_confirm' in plan ? plan.can_confirm : true,
    isOfChat: plan.source === 'chat',
    seen_hash: waiting.includes(plan as PendingPlan) ? seenHash(plan.plan_hash, plan.actions, versions) : null,
  });
  return { cards: Object.fromEntries(waiting.map((plan) => [plan.action_id, buildCard(plan)])), applied: applied.map(buildCard) };
}
