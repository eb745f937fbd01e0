import { run } from '../../../../db/statement.js';
import { webOrigin } from '../../../platform/settings/web-origin.js';
import { afterCommit, callerJson, type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, forbidden } from '../../../platform/errors.js';
import { countRequests } from '../../../platform/telemetry/metrics.js';
import { receiptKeys } from '../../receipts/keys.js';
import { signReceipt } from '../../receipts/sign-receipt.js';
import { hashText } from '../../staging/canonical.js';
import { hashOperation } from '../../staging/operation.js';
import { checkHash, type LockedRequest, lockRequest, requestExpired, stateOf } from '../decide/lock-request.js';
import { readContent } from '../content.js';
import { readRequest } from '../read/read-request.js';
import { requestChange } from '../request-change.js';
import type { RedeemedRequest, RedeemRequest } from '../schema.js';
import { redeemRequestStatement, redemptionStatement } from './redeem.sql.js';

/** A use of an approval, as its row holds it. */
export interface Redemption extends Record<string, unknown> {
  request_id: string;
  team_id: string;
  request_hash: Buffer;
  revision: number;
  role: string;
  allow_self: boolean;
  canonical: string;
  redemption_id: string;
  redeemed_at: Date;
  receipt_seconds: number;
  key_id: string;
  approved_by: { user_id: string; at: string }[];
}

/** @throws PERMISSION_DENIED `not_requester` */
export function checkRequester(ctx: Context, { requested_by }: Pick<LockedRequest, 'requested_by'>): void {
  if (requested_by !== requireUser(ctx))
    throw forbidden('Only the person who made the request may use it', { extra: { reason: 'not_requester' } });
}

/** @throws REQUEST_EXPIRED | RESOURCE_CONFLICT `not_approved`, `redeemed`, `performed_by_assent` */
function checkUsable(request: LockedRequest): void {
  const { status, executor } = request;
  if (executor === 'assent')
    throw conflict('Assent performs this request itself', { extra: { reason: 'performed_by_assent', ...stateOf(request) } });
  if (status === 'approved') return;
  if (status === 'expired') throw requestExpired(request);
  if (status === 'redeemed')
    throw conflict('The request was used before', { extra: { reason: 'redeemed', ...stateOf(request) } });
  throw conflict(`The request is ${status}`, { extra: { reason: 'not_approved', ...stateOf(request) } });
}

/** Uses the approval. @throws REQUEST_EXPIRED | RESOURCE_CONFLICT `redemption_id_used` */
async function redeem(
  ctx: Context,
  request: LockedRequest,
  { redemption_id, receipt_seconds }: RedeemRequest,
): Promise<Redemption> {
  const change = requestChange(ctx.config, request, {
    action: 'redeem',
    status: 'redeemed',
    summary: 'used an approved change request',
    event: 'request.redeemed',
    severity: 'MEDIUM',
    details: { redemption_id },
  });
  const { actor } = ctx;
  const values = [request.request_id, redemption_id, requireUser(ctx), request.request_hash];
  const receipt = [receiptKeys(ctx.config).current.key_id, receipt_seconds, actor.type === 'pat' ? actor.tokenId : null];
  const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change)];
  const [redeemed] = await run<Redemption>(ctx.db, redeemRequestStatement, [...values, ...receipt, ...traces]);
  if (redeemed) return redeemed;
  // The lock is held: only the clock or the redemption id can differ.
  const { status } = await lockRequest(ctx, request.request_id, 'request.use');
  if (status === 'expired') throw requestExpired({ ...request, status, closed_reason: 'use_window' });
  throw conflict('Another request was used under this redemption_id', {
    extra: { reason: 'redemption_id_used', ...stateOf(request) },
  });
}

/** Signs what the row says: the same redemption gives the same bytes. @throws RESOURCE_CONFLICT the key is no longer there */
export async function signRedemption(ctx: Context, row: Redemption): Promise<Omit<RedeemedRequest, 'request'>> {
  const { operations } = readContent(row.canonical);
  const key = receiptKeys(ctx.config).byId(row.key_id);
  if (!key) throw conflict('The key that signed the receipt has been replaced', { extra: { reason: 'key_replaced' } });
  const texts = operations.map(hashOperation);
  const redemption = {
    ...row,
    request_hash: hashText(row.request_hash),
    operations: operations.map(({ system, name, target }, at) => ({
      system,
      name,
      target,
      sha256: hashText(texts[at]?.hash as Buffer),
    })),
    approved_by: row.approved_by.map(({ user_id, at }) => ({ user_id, at: new Date(at).toISOString() })),
  };
  return {
    operations,
    operation_texts: texts.map(({ text }) => text),
    receipt: await signReceipt(redemption, webOrigin(ctx.config), key),
  };
}

/** Signs the receipt of a request that was used before. @throws as `signRedemption` */
async function buildReceipt(ctx: Context, requestId: string): Promise<Omit<RedeemedRequest, 'request'>> {
  const [row] = await run<Redemption>(ctx.db, redemptionStatement, [requestId]);
  if (!row) throw new Error(`Request ${requestId} was used but has no redemption`);
  return signRedemption(ctx, row);
}

async function redeemOnce(ctx: Context, requestId: string, input: RedeemRequest): Promise<RedeemedRequest> {
  const request = await lockRequest(ctx, requestId, 'request.use');
  checkRequester(ctx, request);
  const isRepeated = request.redemption_id === input.redemption_id;
  if (!isRepeated) checkUsable(request);
  checkHash(request, input.request_hash);
  const receipt = await (isRepeated
    ? buildReceipt(ctx, requestId)
    : redeem(ctx, request, input).then((row) => signRedemption(ctx, row)));
  if (!isRepeated) afterCommit(ctx, () => countRequests('redeemed'));
  return { ...receipt, request: await readRequest(ctx, requestId) };
}

/** Whether another request of the team took the redemption id while this one was about to. */
const isTaken = (error: unknown): boolean =>
  (error as { constraint?: unknown } | null)?.constraint === 'change_requests_team_id_redemption_id_key';

/**
 * Uses an approval, once, and returns what to execute with a signed receipt. The same redemption id again returns the same bytes, for a caller whose
 * answer was lost.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED `not_requester` | REQUEST_EXPIRED | RESOURCE_CONFLICT `not_approved`, `redeemed`, `hash_differs`,
 * `redemption_id_used`
 */
export function redeemRequest(ctx: Context, requestId: string, input: RedeemRequest): Promise<RedeemedRequest> {
  const work = () => inTransaction(ctx, (ctx) => redeemOnce(ctx, requestId, input));
  // The second time the other use is committed, and the answer says so.
  return work().catch((thrown: unknown) => {
    if (isTaken(thrown)) return work();
    throw thrown;
  });
}
