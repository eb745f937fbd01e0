import { run } from '../../../../db/statement.js';
import { rolesFrom } from '../../../platform/access/access.js';
import { afterCommit, callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { forbidden } from '../../../platform/errors.js';
import { countRequests } from '../../../platform/telemetry/metrics.js';
import { notifyRequester } from '../create/notify-approvers.js';
import { readContent } from '../content.js';
import { requestChange } from '../request-change.js';
import type { ApprovedRequest, ApproveRequest, RequestStatus } from '../schema.js';
import { isCode } from './code.js';
import { approveRequestStatement, countWrongCodeStatement } from './decide.sql.js';
import { checkHash, checkPending, type LockedRequest, lockRequest, requestExpired, stateOf } from './lock-request.js';
import { authorizeRequest } from './policy.js';
import { rejectLocked } from './reject-request.js';

/** Wrong codes after which a request is rejected. */
const MAX_WRONG_CODES = 5;

type Approval = ApprovedRequest | { wrongCode: number };

const answer = ({ request_id, status, approvals_needed, seq }: ApprovedRequest): ApprovedRequest => ({
  request_id,
  status,
  approvals_needed,
  seq,
});

/** Counts a wrong code, and rejects the request at the fifth: the count is committed, so that guessing ends. */
async function countWrong(ctx: Context, request: LockedRequest): Promise<Approval> {
  const [counted] = await run<{ wrong_codes: number }>(ctx.db, countWrongCodeStatement, [request.request_id]);
  const wrong = counted?.wrong_codes ?? MAX_WRONG_CODES;
  if (wrong >= MAX_WRONG_CODES) await rejectLocked(ctx, request, null, 'code');
  return { wrongCode: wrong };
}

/** @throws PERMISSION_DENIED `code_required` */
function checkCode(
  ctx: Context,
  { request_id, revision, require_code, status, seq }: LockedRequest,
  code: string | null,
): boolean {
  if (!require_code) return true;
  if (code === null)
    throw forbidden('Type the code that the requester reads out', {
      extra: { reason: 'code_required', ...stateOf({ status, seq }) },
    });
  return isCode(ctx.config, request_id, revision, code);
}

/** An approval that the caller has given before changes nothing, also after it was the last one. */
const isRepeated = ({ mine, status }: LockedRequest): boolean =>
  mine === 'approved' && (['pending', 'approved', 'redeemed'] as RequestStatus[]).includes(status);

async function approve(
  ctx: Context,
  requestId: string,
  { request_hash, comment = null, code = null }: ApproveRequest,
): Promise<Approval> {
  const request = await lockRequest(ctx, requestId, 'request.decide');
  authorizeRequest(ctx, 'approved', request);
  if (isRepeated(request)) {
    checkHash(request, request_hash);
    return answer(request);
  }
  checkPending(request);
  checkHash(request, request_hash);
  if (!checkCode(ctx, request, code)) return countWrong(ctx, request);
  const userId = requireUser(ctx);
  const change = requestChange(ctx.config, request, {
    action: 'approve',
    status: 'approved',
    summary: 'approved a change request',
    event: 'request.approved',
    severity: 'MEDIUM',
    details: comment === null ? {} : { comment },
  });
  const values = [requestId, userId, request.request_hash, rolesFrom(request.required_role), comment];
  const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change)];
  const [given] = await run<{ needed: number; status: RequestStatus; seq: number }>(ctx.db, approveRequestStatement, [
    ...values,
    ...traces,
  ]);
  if (!given) throw requestExpired(request);
  const { title } = readContent(request.canonical);
  if (given.needed === 0) {
    afterCommit(ctx, () => countRequests('approved'));
    await notifyRequester(ctx, { ...request, title }, 'approved', userId);
  }
  return { request_id: requestId, status: given.status, approvals_needed: given.needed, seq: given.seq };
}

/**
 * Approves a request by the hash of the text that the caller has read. The last approval needed opens the time of its use. A repeated approval by the
 * same user changes nothing.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED `role`, `self`, `token_may_not_decide`, `code_required`, `code_wrong` | REQUEST_EXPIRED |
 * RESOURCE_CONFLICT `not_pending`, `hash_differs`
 */
export async function approveRequest(ctx: Context, requestId: string, input: ApproveRequest): Promise<ApprovedRequest> {
  const approval = await inTransaction(ctx, (ctx) => approve(ctx, requestId, input));
  if (!('wrongCode' in approval)) return approval;
  const left = MAX_WRONG_CODES - approval.wrongCode;
  const detail = left > 0 ? `${left} more wrong codes reject the request.` : 'The request is rejected.';
  throw forbidden('This is not the code of the request', { detail, extra: { reason: 'code_wrong' } });
}
