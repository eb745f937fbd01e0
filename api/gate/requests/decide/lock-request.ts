import { run } from '../../../../db/statement.js';
import { type Ability, authorize, type Seat } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict, DomainError, notFound, unauthenticated } from '../../../platform/errors.js';
import { hashText } from '../../staging/canonical.js';
import type { RequestRow } from '../present-request.js';
import type { TracedRequest } from '../request-change.js';
import { lockedRequestStatement, lockRequestStatement } from './lock.sql.js';

type Shared =
  | 'requested_by'
  | 'executor'
  | 'required_role'
  | 'required_approvals'
  | 'allow_self'
  | 'require_code'
  | 'status'
  | 'closed_reason';

/** A request whose row is locked until the commit. */
export interface LockedRequest extends TracedRequest, Pick<RequestRow, Shared> {
  wrong_codes: number;
  seq: number;
  expires_at: Date;
  use_until: Date | null;
  use_seconds: number;
  incarnation: number;
  redemption_id: string | null;
  redeemed_at: Date | null;
  outcome: RequestRow['outcome'];
  outcome_details: Record<string, unknown> | null;
  approvals_needed: number;
  signed_in: boolean;
  /** The caller's decision of this revision. */
  mine: 'approved' | 'rejected' | null;
  /** The caller's role in the team. */
  seat: Seat | null;
}

type RequestAbility = Extract<Ability, 'request.decide' | 'request.edit' | 'request.cancel' | 'request.use'>;

/**
 * Locks a request with which the caller may do what the ability says, and the caller's role.
 * @throws RESOURCE_NOT_FOUND | AUTHENTICATION_REQUIRED suspended during the request | PERMISSION_DENIED a guest, or no member
 */
export async function lockRequest(ctx: Context, requestId: string, ability: RequestAbility): Promise<LockedRequest> {
  const values = [requestId, requireUser(ctx)];
  const [locked] = await run<{ is_active: boolean; seat: Seat | null; requests: number }>(ctx.db, lockRequestStatement, values);
  if (!locked || locked.requests === 0) throw notFound('Change request');
  if (!locked.is_active) throw unauthenticated();
  authorize(ability, locked.seat);
  const [row] = await run<Omit<LockedRequest, 'seat'> & Record<string, unknown>>(ctx.db, lockedRequestStatement, values);
  if (!row) throw notFound('Change request');
  return { ...row, seat: locked.seat } as LockedRequest;
}

/** Returns what errors about a request's state tell programs. */
export const stateOf = ({ status, seq }: Pick<LockedRequest, 'status' | 'seq'>) => ({ request_status: status, seq });

/** Error for a request past its time. */
export function requestExpired({ status, seq, closed_reason, expires_at, use_until }: LockedRequest): DomainError {
  const reason = closed_reason === 'use_window' ? 'use_window' : 'time';
  const ended = reason === 'time' ? expires_at : (use_until ?? expires_at);
  const what = reason === 'time' ? 'The request expired' : 'The time to use the approval ended';
  return new DomainError('REQUEST_EXPIRED', `${what} at ${ended.toISOString()}`, {
    extra: { reason, ...stateOf({ status, seq }) },
  });
}

/** @throws REQUEST_EXPIRED | RESOURCE_CONFLICT `not_pending` */
export function checkPending(request: LockedRequest): void {
  if (request.status === 'expired') throw requestExpired(request);
  if (request.status !== 'pending')
    throw conflict(`The request is ${request.status}`, { extra: { reason: 'not_pending', ...stateOf(request) } });
}

/** @throws REQUEST_EXPIRED | RESOURCE_CONFLICT `not_pending` */
export function checkOpen(request: LockedRequest): void {
  if (request.status !== 'approved') checkPending(request);
}

/** @throws RESOURCE_CONFLICT `hash_differs` */
export function checkHash(request: LockedRequest, seen: string): void {
  if (seen !== hashText(request.request_hash))
    throw conflict('The request differs from the one that you have read', {
      extra: { reason: 'hash_differs', ...stateOf(request) },
    });
}
