import { run } from '../../../../db/statement.js';
import { rolesFor, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { CutPage } from '../../../platform/endpoint/endpoint.js';
import { countMissing } from '../../../gate/requirement/approvers-missing.js';
import { checkRunCursor } from '../record/check-run-cursor.js';
import {
  approvalsAfterStatement,
  approvalsOfRunsStatement,
  approvalsPageStatement,
  listApprovalsStatement,
} from './list-approvals.sql.js';
import { mayApprove } from './policy.js';
import type { ApprovalList, ListApprovals } from './schema.js';

type Row = Omit<Approval, 'requested_at' | 'expires_at' | 'can_decide' | 'approvers_missing'> & {
  requested_at: Date;
  expires_at: Date;
  excluded: string[];
  creator_id: string;
  seat: Seat | null;
  signed_in: boolean;
  total: number | null;
};

export type Approval = ApprovalList['approvals'][number];

function presentOne({ creator_id, excluded, seat, signed_in, total: _total, ...row }: Row, ctx: Context, missing: number) {
  const gated = { team_id: row.team_id, creator_id };
  const gate = { required_role: row.required_role, excluded, signed_in };
  return {
    ...row,
    approvals: row.approvals.map(({ user_id, at }) => ({ user_id, at: new Date(at).toISOString() })),
    requested_at: row.requested_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    approvers_missing: missing,
    can_decide: mayApprove(ctx, gated, gate, seat),
  };
}

async function present(ctx: Context, rows: readonly Row[]): Promise<Approval[]> {
  const missing = await countMissing(
    ctx,
    rows.map(({ team_id, required_role: role, required_approvals: approvals, excluded }) => ({
      team_id,
      role,
      approvals,
      excluded,
    })),
  );
  return rows.map((row, at) => presentOne(row, ctx, missing[at] ?? 0));
}

/** Lists the gates that wait in the caller's teams and personal automations, oldest deadline first. */
export async function listApprovals(ctx: Context, limit: number): Promise<ApprovalList> {
  const rows = await run<Row>(ctx.db, listApprovalsStatement, [requireUser(ctx), limit, rolesFor('automation.write')]);
  return { approvals: await present(ctx, rows), total: rows[0]?.total ?? 0 };
}

/**
 * Returns a page of the same list.
 * @throws VALIDATION_ERROR a cursor that is no run of the caller's
 */
export async function pageOfApprovals(ctx: Context, { limit, before }: ListApprovals): Promise<CutPage> {
  const values = [requireUser(ctx), limit + 1, rolesFor('automation.write')];
  if (before !== undefined) await checkRunCursor(ctx, before);
  const rows = await (before === undefined
    ? run<Row>(ctx.db, listApprovalsStatement, values)
    : run<Row>(ctx.db, approvalsPageStatement, [...values, before]));
  const approvals = await present(ctx, rows.slice(0, limit));
  const total = rows[0]?.total ?? 0;
  const body: ApprovalList = { approvals, total };
  return { body, count: approvals.length, more: rows.length > limit, last: approvals.at(-1)?.run_id, total };
}

/** A part of the same list. */
export interface ApprovalPage {
  approvals: Approval[];
  hasMore: boolean;
}

/** Lists the gates that follow the run `after` in the order of `listApprovals`, or the first ones, without counting them all. */
export async function listApprovalsAfter(ctx: Context, limit: number, after: string | null = null): Promise<ApprovalPage> {
  const values = [requireUser(ctx), limit + 1, rolesFor('automation.write'), after];
  const rows = await run<Row>(ctx.db, approvalsAfterStatement, values);
  return { approvals: await present(ctx, rows.slice(0, limit)), hasMore: rows.length > limit };
}

/** Returns the gates that runs wait at, as the list shows them, without those that the caller may not see. */
export async function listApprovalsOfRuns(ctx: Context, runIds: readonly string[]): Promise<Approval[]> {
  if (runIds.length === 0) return [];
  const rows = await run<Row>(ctx.db, approvalsOfRunsStatement, [requireUser(ctx), runIds, rolesFor('automation.write')]);
  return present(ctx, rows);
}

/** Returns the gate that a run waits at, as the list shows it; null if there is none or the caller may not see it. */
export const getApproval = async (ctx: Context, runId: string): Promise<Approval | null> =>
  (await listApprovalsOfRuns(ctx, [runId]))[0] ?? null;
