import { run } from '../../../../db/statement.js';
import { isAdmitted, rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { unknownCursor } from '../../../platform/endpoint/pages.js';
import type { PlanRecord } from '../decisions/schema.js';
import { canConfirm, isReadable, type PlanRow, presentPlan } from './present-plan.js';
import {
  countConfirmableStatement,
  countPendingStatement,
  pendingPlansStatement,
  planCursorStatement,
  recentlyAppliedStatement,
} from './read-plans.sql.js';
import type { ListPending, PendingPlan, PendingPlans } from './schema.js';

function present(ctx: Context, row: PlanRow): PendingPlan {
  const { session_id, action_id, summary, actions, plan_hash, source, ...plan } = presentPlan(row);
  const { team_id, project_id, trigger, risk, stale, undo_of, created_at, expires_at } = plan;
  const shown = {
    session_id,
    action_id,
    summary,
    actions,
    plan_hash,
    source,
    team_id,
    project_id,
    trigger,
    risk,
    stale,
    undo_of,
  };
  const said = { session_title: row.session_title ?? null, note: row.note ?? null };
  return { ...shown, ...said, can_confirm: canConfirm(ctx, row), created_at, expires_at };
}

/** A part of the list. */
export interface PendingPage {
  plans: PendingPlan[];
  hasMore: boolean;
  /** The plan after which the list continues. */
  last: string | undefined;
}

/** Bytes of plans that one answer of the API holds, and a page, which reads them anew every few seconds. */
const API_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 1024 * 1024;

/**
 * Lists the plans that follow the plan `after`, or the first ones, without counting them all. A list of large plans is shorter than `limit`,
 * so that no team can make it costly.
 */
export async function listPendingAfter(
  ctx: Context,
  limit: number,
  after: string | null = null,
  bytes: number = PAGE_BYTES,
): Promise<PendingPage> {
  const values = [requireUser(ctx), rolesFor('plan.decide'), limit + 1, after, bytes];
  const rows = await run<PlanRow & Record<string, unknown>>(ctx.db, pendingPlansStatement, values);
  const shown = rows.slice(0, limit);
  const plans = shown.filter(isReadable).map((row) => present(ctx, row));
  return { plans, hasMore: (rows[0]?.found ?? 0) > shown.length, last: shown.at(-1)?.action_id };
}

/**
 * Lists staged plans that no conversation shows: those of teams in which the caller may write, and what the caller's own agents have proposed.
 * Nearest end first; `total` counts those beyond the limits too.
 * @throws VALIDATION_ERROR a cursor that is no plan of the caller's
 */
export async function listPending(ctx: Context, { limit, before }: ListPending): Promise<CutPage & { body: PendingPlans }> {
  const roles = rolesFor('plan.decide');
  if (before !== undefined && (await run(ctx.db, planCursorStatement, [before, requireUser(ctx), roles])).length === 0) {
    throw unknownCursor();
  }
  const [[counted], { plans, hasMore, last }] = await Promise.all([
    run<{ total: number }>(ctx.db, countPendingStatement, [requireUser(ctx), roles]),
    listPendingAfter(ctx, limit, before, API_BYTES),
  ]);
  const total = counted?.total ?? 0;
  return { body: { pending: plans, total }, count: plans.length, more: hasMore, last, total };
}

/** Counts the plans that the caller may confirm as they are, those of the caller's own conversations too, at most `limit`. */
export async function countConfirmable(ctx: Context, limit: number): Promise<number> {
  if (!isAdmitted('plan.decide', ctx.actor)) return 0;
  const values = [requireUser(ctx), rolesFor('plan.decide'), rolesFor('plan.decide_high_risk'), limit];
  const [row] = await run<{ waiting: number }>(ctx.db, countConfirmableStatement, values);
  return row?.waiting ?? 0;
}

/** Returns the plans outside of conversations that the caller has applied within a day, newest first. */
export async function listApplied(ctx: Context, limit: number): Promise<PlanRecord[]> {
  const values = [requireUser(ctx), rolesFor('plan.decide'), limit];
  const rows = await run<PlanRow & Record<string, unknown>>(ctx.db, recentlyAppliedStatement, values);
  return rows.filter(isReadable).map(presentPlan);
}
