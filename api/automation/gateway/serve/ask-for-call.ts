import { run } from '../../../../db/statement.js';
import { createRequest } from '../../../gate/requests/create/create-request.js';
import { readPrepared } from '../../../gate/requests/create/compose-request.js';
import { NEW_REQUEST } from '../../../gate/requests/schema.js';
import { waitForChange } from '../../../gate/requests/read/request-listener.js';
import { canonicalJson, computeHash } from '../../../gate/staging/canonical.js';
import { invalid } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { z } from 'zod';
import type { ToolResult } from '../client/result.js';
import type { AgentClient } from './agent-client.js';
import { askedRequestStatement } from './asked.sql.js';
import { deliver, hasEnded, pageOf, pending, readAsked } from './asked-row.js';
import type { Gateway, GatewayCall } from './gateway.js';
import { createTask } from './tasks.js';

const EXPIRES_SECONDS = 86_400;
/** How often a client that asks for progress hears that its call still waits, ms. */
const PROGRESS_MS = 5_000;

/** The same call of the same token, so that a client that timed out and calls again has no second effect. */
const keyOf = ({ upstream, tool, given, tokenId }: GatewayCall): Buffer =>
  computeHash('assent.call.v1\n', canonicalJson([tokenId, upstream.upstream_id, tool.name, given]));

/** Returns the id of the request of the same call, whose result was not delivered. */
export const findAsked = async (call: GatewayCall, key = keyOf(call)): Promise<string | undefined> =>
  (await run<{ request_id: string }>(call.ctx.db, askedRequestStatement, [call.tokenId, key]))[0]?.request_id;

/** Returns the id of the open request for a call, or makes one. @throws the errors of `createRequest` */
async function findOrAsk(call: GatewayCall): Promise<string> {
  const { ctx, upstream, tool, given } = call;
  const call_hash = keyOf(call);
  const known = await findAsked(call, call_hash);
  if (known !== undefined) return known;
  const operation = readPrepared({
    system: `mcp.${upstream.slug}`,
    name: tool.name,
    target: upstream.url,
    arguments: given,
    tool_hash: tool.tool_hash?.toString('hex'),
  });
  const asked = z.object(NEW_REQUEST).parse({
    team_id: upstream.team_id,
    title: `${upstream.slug}: ${tool.name}`.slice(0, 200),
    expires_in_seconds: EXPIRES_SECONDS,
  });
  try {
    const gateway = { upstream_id: upstream.upstream_id, call_hash };
    return (await createRequest(ctx, asked, { operations: [operation], executor: 'assent', gateway })).request_id;
  } catch (error) {
    // Another process of the same client was first.
    const isSame = (error as { constraint?: unknown }).constraint === 'change_requests_asked';
    const same = isSame ? await findAsked(call, call_hash) : undefined;
    if (same === undefined) throw error;
    return same;
  }
}

/** What a client brings along when it calls again: the request, and of which call it is. It gives no more than the token could ask for anyway. */
const stateOf = (call: GatewayCall, requestId: string): string => `${requestId}.${keyOf(call).toString('base64url')}`;

/** Returns the request that a repeated call names. @throws INVALID_REQUEST one of another call */
function requestIn(state: string, call: GatewayCall): string {
  const [requestId = ''] = state.split('.');
  if (!Id.safeParse(requestId).success || state !== stateOf(call, requestId))
    throw invalid('requestState is of another call', { extra: { reason: 'invalid_request_state' } });
  return requestId;
}

/** Tells a client every few seconds that its call still waits. Returns how to stop. One that has gone is not told. */
function reportProgress({ ctx }: Gateway, requestId: string, { progress }: AgentClient): () => void {
  const began = performance.now();
  const report = (): void => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    progress?.(seconds, `A person decides at ${pageOf(ctx, requestId)}`).catch(() => undefined);
  };
  const timer = progress && setInterval(report, PROGRESS_MS);
  return () => clearInterval(timer);
}

/**
 * Waits for a request of this token, at most as long as the server's setting says, and returns its result or that it is pending.
 * @throws RESOURCE_NOT_FOUND another request | RATE_LIMIT_EXCEEDED the token waits too often
 */
export async function holdForResult(gateway: Gateway, requestId: string, client: AgentClient): Promise<ToolResult> {
  const deadline = performance.now() + gateway.upstream.hold_seconds * 1_000;
  const stop = reportProgress(gateway, requestId, client);
  let hasGone = false;
  const stopListening = gateway.onHangUp(() => {
    hasGone = true;
  });
  const { ctx, upstream, tokenId, onHangUp } = gateway;
  const read = () => readAsked(gateway, requestId);
  try {
    for (;;) {
      const row = await read();
      // A client that has gone gets no result: it calls again, and finds the request.
      if (hasGone) return pending(ctx, requestId);
      if (hasEnded(row)) return await deliver(ctx, row);
      const ms = deadline - performance.now();
      if (ms <= 0) return pending(ctx, requestId);
      const about = { requestId, caller: tokenId, team: upstream.team_id, seq: row.seq };
      await waitForChange(ctx, about, { ms, onHangUp, readSeq: async () => (await read()).seq });
    }
  } finally {
    stop();
    stopListening();
  }
}

/** Asks the client to show its user the page of the decision, and to call again. */
const showPage = (call: GatewayCall, requestId: string) => ({
  resultType: 'input_required',
  requestState: stateOf(call, requestId),
  inputRequests: {
    decision: {
      method: 'elicitation/create',
      params: {
        mode: 'url',
        url: pageOf(call.ctx, requestId),
        message: `A person decides about ${call.upstream.slug}: ${call.tool.name}`,
      },
    },
  },
});

/**
 * Asks people about a call. A client that polls tasks gets one, a client that opens pages gets the page and calls again, any other waits.
 * @throws the errors of `createRequest` and `holdForResult` | INVALID_REQUEST `invalid_request_state`
 */
export async function askForCall(call: GatewayCall, client: AgentClient): Promise<object> {
  if (client.state !== undefined) return holdForResult(call, requestIn(client.state, call), client);
  const requestId = await findOrAsk(call);
  if (client.pollsTasks && call.upstream.offers_tasks) return createTask(call, requestId);
  const isOpen = client.opensPages && !hasEnded(await readAsked(call, requestId));
  return isOpen ? showPage(call, requestId) : holdForResult(call, requestId, client);
}
