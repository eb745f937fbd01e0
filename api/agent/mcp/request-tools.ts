import { z } from 'zod';
import { createRequest } from '../../gate/requests/create/create-request.js';
import { readOperations } from '../../gate/requests/create/compose-request.js';
import { cancelRequest } from '../../gate/requests/decide/cancel-request.js';
import { readRequest } from '../../gate/requests/read/read-request.js';
import { type ChangeRequest, NEW_REQUEST, OPERATIONS, RedeemRequest, ReportOutcome } from '../../gate/requests/schema.js';
import { redeemRequest } from '../../gate/requests/use/redeem-request.js';
import { reportOutcome } from '../../gate/requests/use/report-outcome.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { Id } from '../../platform/fields.js';
import { mcpTool } from './tool.js';

const { team_id, title, reason, requirement, expires_in_seconds, use_within_seconds } = NEW_REQUEST;
const AskInput = z.strictObject({
  team_id,
  title,
  reason,
  requirement,
  expires_in_seconds,
  use_within_seconds,
  operations: OPERATIONS.operations.unwrap(),
});
const OneInput = z.strictObject({ request_id: Id });

/** What an agent reads of a request: whether a person has decided, and where. Whether it may decide itself it never may. */
const toAnswer = ({ can_decide: _never, earlier: _earlier, ...request }: ChangeRequest): Record<string, unknown> => request;

/** An agent reads and uses what its own user asked for. @throws RESOURCE_NOT_FOUND a request of another user */
async function readOwn(ctx: Context, requestId: string): Promise<ChangeRequest> {
  const request = await readRequest(ctx, requestId);
  if (ctx.actor.type === 'system' || request.requested_by !== ctx.actor.userId) throw notFound('Change request');
  return request;
}

export const requestChangeTool = mcpTool({
  name: 'request_change',
  title: 'Ask for a change outside of Assent',
  description:
    'Before you act on another system: asks people for a yes to exactly these operations. Give the person `url`, then poll get_request until `status` is approved, use it with use_request, and do what that returns, nothing else.',
  scope: 'requests:create',
  input: AskInput,
  readOnly: false,
  async call(ctx, { operations, ...input }) {
    const asked = z.object(NEW_REQUEST).parse(input);
    return toAnswer(
      await createRequest(ctx, asked, { operations: readOperations(operations), executor: 'requester', source: 'mcp' }),
    );
  },
});

export const getRequestTool = mcpTool({
  name: 'get_request',
  title: 'Get a change request',
  description:
    'One request of yours by its request_id: whether people have approved or rejected it, and until when it may be used.',
  scope: 'requests:read',
  input: OneInput,
  readOnly: true,
  call: async (ctx, { request_id }) => toAnswer(await readOwn(ctx, request_id)),
});

export const useRequestTool = mcpTool({
  name: 'use_request',
  title: 'Use an approved change request',
  description:
    'Uses the approval, once, and returns the operations to perform with a receipt. If the answer was lost, call it again with the same redemption_id, a UUID that you choose.',
  scope: 'requests:create',
  input: RedeemRequest.extend({ request_id: Id }).strict(),
  readOnly: false,
  async call(ctx, { request_id, ...input }) {
    const { request: _request, ...used } = await redeemRequest(ctx, request_id, input);
    return used;
  },
});

export const reportOutcomeTool = mcpTool({
  name: 'report_outcome',
  title: 'Report what became of a used change request',
  description: 'Within seven days of its use. Without a report in a day its outcome is unknown.',
  scope: 'requests:create',
  input: ReportOutcome.extend({ request_id: Id }).strict(),
  readOnly: false,
  call: async (ctx, { request_id, ...outcome }) => toAnswer(await reportOutcome(ctx, request_id, outcome)),
});

export const cancelRequestTool = mcpTool({
  name: 'cancel_request',
  title: 'Cancel your own change request',
  description: 'Takes back a request of yours that was not used.',
  scope: 'requests:create',
  input: OneInput,
  readOnly: false,
  async call(ctx, { request_id }) {
    await readOwn(ctx, request_id);
    return toAnswer(await cancelRequest(ctx, request_id, null));
  },
});
