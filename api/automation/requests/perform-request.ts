import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../db/statement.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';
import { receiptKeys } from '../../gate/receipts/keys.js';
import type { ClaimedOperation } from '../../gate/requests/content.js';
import { requestChange, type TracedRequest } from '../../gate/requests/request-change.js';
import { type Redemption, signRedemption } from '../../gate/requests/use/redeem-request.js';
import { forgetOutcomes } from '../../gate/requests/waiting/settle-request.js';
import { rolesFor, type Seat } from '../../platform/access/access.js';
import { afterCommit, callerJson, type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { OutboundFailure } from '../../platform/http-client/failure.js';
import { outboundPolicy } from '../../platform/http-client/policy.js';
import { redactSecrets } from '../../platform/http-client/redact-secrets.js';
import { METHODS, type OutboundRequest, sendRequest } from '../../platform/http-client/send-request.js';
import { newId } from '../../platform/ids.js';
import { countRequests } from '../../platform/telemetry/metrics.js';
import { buildHttpRequest } from '../actions/http-request.js';
import { type Filled, fillIn } from './fill-in.js';
import { OWN_HEADERS } from './http-operation.js';
import { call, endStale, prepareCall, type ReadyCall } from './perform-call.js';
import { cutBytes, failed, MAX_RESULT, type Performance } from './performance.js';
import {
  calledRequestStatement,
  claimPerformanceStatement,
  performedRequestStatement,
  storePerformanceStatement,
} from './perform.sql.js';

/** Time of the whole call, ms. */
const TIMEOUT_MS = 30_000;
const RECEIPT_SECONDS = 300;
/** Attempts to open a connection, and the wait before the next, ms. */
const CONNECTS = 3;
const WAIT_MS = 1_000;

interface Row extends TracedRequest, Record<string, unknown> {
  requested_by: string;
  status: string;
  outcome: string | null;
  attempts: number;
  title: string;
  correlation_id: string;
  source: string;
  upstream_id: string | null;
}

/** What may be sent now, and by nobody again. */
interface Ready {
  row: Row;
  perform: () => Promise<Performance>;
}

/** What Assent sends after the use of an approval. */
interface Sent {
  operation: ClaimedOperation;
  receipt: string;
  filled: Filled;
}

/** Builds what is sent, as the action `http_request` does. */
function buildRequest({ request_id }: Row, { operation: { name }, receipt, filled }: Sent): OutboundRequest {
  const { url, headers, body } = filled;
  const method = METHODS.find((each) => each === name);
  if (!method) throw new ActionRefused({ code: 'action_unavailable', message: `Unknown method ${name}` });
  // An edit may have brought one of ours in, and a receiver may read either of two.
  const others = Object.fromEntries(Object.entries(headers).filter(([header]) => !OWN_HEADERS.test(header)));
  const built = buildHttpRequest({
    method,
    url,
    headers: { ...others, 'assent-receipt': receipt },
    ...(body !== undefined && { body: body as Parameters<typeof buildHttpRequest>[0]['body'] }),
    key: request_id,
  });
  return { ...built, timeoutMs: TIMEOUT_MS, maxBytes: MAX_RESULT };
}

/** Uses the approval of the text that was read. Undefined: it is not approved any more, or its requester may not ask any more. */
async function redeem(ctx: Context, row: Row): Promise<(Redemption & { seat: Seat | null }) | undefined> {
  const change = requestChange(ctx.config, row, {
    action: 'redeem',
    status: 'redeemed',
    summary: 'an approved change request is performed',
    event: 'request.redeemed',
    severity: 'MEDIUM',
    details: { executor: 'assent' },
  });
  const key = receiptKeys(ctx.config).current.key_id;
  const values = [row.request_id, row.request_hash, newId(), key, RECEIPT_SECONDS, rolesFor('request.create')];
  const traces = [JSON.stringify(callerJson(ctx)), JSON.stringify(change)];
  return (await run<Redemption & { seat: Seat | null }>(ctx.db, claimPerformanceStatement, [...values, ...traces]))[0];
}

/** Uses the approval. What is refused before anything is sent has failed. Null: there is nothing to do any more. */
async function claim(ctx: Context, row: Row, ready: ReadyCall | null): Promise<Ready | null> {
  const redeemed = await redeem(ctx, row);
  if (!redeemed) return null;
  afterCommit(ctx, () => countRequests('redeemed'));
  if (ready && 'open' in ready) return { row, perform: () => call(ready.open, row) };
  if (ready && 'failure' in ready) {
    await store(ctx, row, failed(ready.failure.reason, ready.failure.message));
    return null;
  }
  try {
    const { operations, receipt } = await signRedemption(ctx, redeemed);
    const [operation] = operations as [ClaimedOperation];
    const filled = await fillIn(ctx, redeemed, operation.arguments);
    const request = buildRequest(row, { operation, receipt, filled });
    return { row, perform: () => send(ctx, request, filled.secrets) };
  } catch (error) {
    if (!(error instanceof ActionRefused)) throw error;
    await store(ctx, row, failed(error.failure.code, error.failure.message));
    return null;
  }
}

async function store(ctx: Context, row: Row, { outcome, details, result, isCut }: Performance): Promise<void> {
  const change = requestChange(ctx.config, row, {
    action: 'report',
    status: 'redeemed',
    event: 'request.finished',
    details: { outcome, ...(details['details'] as object) },
  });
  const values = [row.request_id, outcome, JSON.stringify(details), result, isCut];
  await run(ctx.db, storePerformanceStatement, [...values, JSON.stringify(callerJson(ctx)), JSON.stringify(change)]);
}

/** Sends the request once. Only a connection that was never opened is tried again: until then nothing can have arrived. */
async function send(
  { config }: Pick<Services, 'config'>,
  request: OutboundRequest,
  secrets: ReadonlySet<string>,
): Promise<Performance> {
  const began = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { status, body, isCut } = await sendRequest(outboundPolicy(config), request);
      return {
        outcome: status >= 200 && status < 300 ? 'succeeded' : 'failed',
        details: { duration_ms: Math.round(performance.now() - began), details: { http_status: status } },
        result: cutBytes(redactSecrets(secrets, body, isCut), MAX_RESULT),
        isCut,
      };
    } catch (thrown) {
      if (!(thrown instanceof OutboundFailure)) throw thrown;
      const { reason, message, mayHaveArrived, isRetryable } = thrown;
      if (mayHaveArrived) return { ...failed(reason, message), outcome: 'unknown' };
      if (!isRetryable || attempt === CONNECTS) return failed(reason, message);
      await sleep(WAIT_MS * attempt);
    }
  }
}

/**
 * Performs an approved request, at most once: one transaction uses the approval, the call follows without a transaction, another one stores what came of
 * it. If the process dies between them, the next call finds the approval used, and the outcome is unknown. Returns the outcome.
 * @throws the error itself if PostgreSQL is unavailable
 */
export async function performRequest(services: Services, requestId: string): Promise<{ outcome: string | null }> {
  const ctx = serviceContext(services, 'requests');
  const [asked] = await run<Row>(ctx.db, calledRequestStatement, [requestId]);
  if (!asked) return endAbandoned(services, requestId);
  const open = asked.source === 'gateway' ? await prepareCall(services, asked) : null;
  if (open && 'stale' in open) {
    await endStale(services, asked);
    return { outcome: 'stale' };
  }
  const ready = await inTransaction(ctx, (ctx) => claim(ctx, asked, open));
  if (!ready) return endAbandoned(services, requestId);
  const performed = await ready.perform();
  await inTransaction(serviceContext(services, 'requests'), (ctx) => store(ctx, ready.row, performed));
  return { outcome: performed.outcome };
}

/** A request that was used but has no outcome was under way in a process that died. */
async function endAbandoned(services: Services, requestId: string): Promise<{ outcome: string | null }> {
  const [row] = await run<Row>(services.db, performedRequestStatement, [requestId]);
  if (row?.status !== 'redeemed' || row.outcome !== null) return { outcome: row?.outcome ?? null };
  await forgetOutcomes(services, requestId, true);
  return { outcome: 'unknown' };
}
