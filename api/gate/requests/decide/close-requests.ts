import { run, type Statement } from '../../../../db/statement.js';
import { hasRoleAtLeast, isAllowed, type Seat } from '../../../platform/access/access.js';
import { webOrigin } from '../../../platform/settings/web-origin.js';
import { afterCommit, callerJson, type Context } from '../../../platform/context.js';
import { countRequests } from '../../../platform/telemetry/metrics.js';
import { notifyRequester } from '../create/notify-approvers.js';
import { REQUEST_ROLES } from '../schema.js';
import {
  cancelOfRequesterStatement,
  cancelOfTeamStatement,
  cancelOfTokensStatement,
  cancelRequestStatement,
  voidRequestApprovalsStatement,
} from './close.sql.js';

/** A request that was closed. */
export interface ClosedRequest extends Record<string, unknown> {
  request_id: string;
  team_id: string;
  requested_by: string;
  title: string;
}

type Reason = 'requester' | 'manager' | 'approver' | 'source_gone';

async function cancel(
  ctx: Context,
  statement: Statement,
  values: unknown[],
  reason: Reason = 'source_gone',
  by: { userId: string; comment: string | null } | null = null,
): Promise<ClosedRequest[]> {
  const shared = [JSON.stringify(callerJson(ctx)), reason, webOrigin(ctx.config), by?.userId ?? null, by?.comment ?? null];
  const closed = await run<ClosedRequest>(ctx.db, statement, [...shared, ...values]);
  afterCommit(ctx, () => countRequests('cancelled', closed.length));
  return closed;
}

/** Cancels one open request, for a person who may. Returns it; undefined if it had ended. */
export async function cancelOne(
  ctx: Context,
  requestId: string,
  reason: Exclude<Reason, 'source_gone'>,
  by: { userId: string; comment: string | null },
): Promise<ClosedRequest | undefined> {
  const [closed] = await cancel(ctx, cancelRequestStatement, [requestId], reason, by);
  if (closed && closed.requested_by !== by.userId) await notifyRequester(ctx, closed, 'cancelled', by.userId);
  return closed;
}

/** Cancels what tokens have asked for, in the transaction that revokes them. Returns the number, as all of these do. */
export const cancelRequestsOfTokens = async (ctx: Context, tokenIds: readonly string[]): Promise<number> =>
  (await cancel(ctx, cancelOfTokensStatement, [tokenIds])).length;

/** Cancels the requests of a team, in the transaction that deletes it. */
export const cancelRequestsOfTeam = async (ctx: Context, teamId: string): Promise<number> =>
  (await cancel(ctx, cancelOfTeamStatement, [teamId])).length;

/**
 * Takes back what a role allowed, in the transaction that removes it: approvals of open requests that the user may no longer give, and the user's own
 * requests where the user may make none. Without a `seat` the user has lost the account. The caller has locked the membership, or the user.
 */
export async function loseRequestRights(
  ctx: Context,
  userId: string,
  seat?: { team_id: string; role: Seat | null },
): Promise<{ voided_request_approvals?: number; cancelled_requests?: number }> {
  const teamId = seat?.team_id ?? null;
  const left = REQUEST_ROLES.filter((role) => hasRoleAtLeast(seat?.role ?? null, role));
  const [row] = await run<{ voided: number }>(ctx.db, voidRequestApprovalsStatement, [userId, teamId, left]);
  const mayAsk = seat !== undefined && isAllowed('request.create', seat.role);
  const cancelled = mayAsk ? 0 : (await cancel(ctx, cancelOfRequesterStatement, [userId, teamId])).length;
  return {
    ...(row?.voided && { voided_request_approvals: row.voided }),
    ...(cancelled > 0 && { cancelled_requests: cancelled }),
  };
}
