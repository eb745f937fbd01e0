import type { Context } from '../platform/context.js';
import { presentOperations } from '../gate/requests/present-operations.js';
import { type CountedRequest, presentRequest, type RequestRow } from '../gate/requests/present-request.js';
import type { ChangeRequest } from '../gate/requests/schema.js';
import { findRequest, findReadableRequests } from '../gate/requests/read/read-request.js';
import type { Decision, DecisionState } from './schema.js';

const getState = ({ status }: RequestRow): DecisionState => (status === 'redeemed' ? 'approved' : status);

/** Longest actions in a list, UTF-16 units of their JSON text; a request by its id has all. */
const MAX_LISTED = 16_000;
const isLong = (value: unknown): boolean => JSON.stringify(value).length > MAX_LISTED;

/** Returns the operations in words; null if they are too long for a list, which the operations tell before they are in words. */
function listActions({ operations, revision }: ChangeRequest, isListed: boolean): Decision['actions'] {
  if (isListed && isLong(operations)) return null;
  // An edit changes what was asked, so nobody says yes to it in passing.
  const changed = revision > 1 ? { by: null, at: null } : null;
  const actions = presentOperations(operations as Parameters<typeof presentOperations>[0]).map((line) => ({ ...line, changed }));
  return isListed && isLong(actions) ? null : actions;
}

/** `isListed`: actions that are too long for a list are left out. */
function present(ctx: Context, row: CountedRequest, isListed = false): Decision {
  const request = presentRequest(ctx, row);
  const last = request.decisions.findLast(({ revision }) => revision === request.revision);
  const hasEnded = request.status !== 'pending';
  return {
    kind: 'request',
    id: request.request_id,
    gate_index: null,
    title: request.title,
    message: request.reason,
    team_id: request.team_id,
    requested_by: request.requested_by,
    requested_at: request.created_at,
    expires_at: request.expires_at,
    state: getState(row),
    requirement: { ...request.requirement, signed_in: row.signed_in },
    approvals: request.decisions
      .filter(({ decision, revision }) => decision === 'approved' && revision === request.revision)
      .map(({ user_id, at, comment }) => ({ user_id, at, ...(comment !== null && { comment }) })),
    decided_by: hasEnded ? (last?.user_id ?? null) : null,
    decided_at: hasEnded ? (last?.at ?? request.ended_at) : null,
    comment: last?.decision === 'rejected' ? last.comment : null,
    staged_hash: request.request_hash,
    seen_hash: hasEnded ? null : request.request_hash,
    actions: listActions(request, isListed),
    behind: request.behind,
    approvers_missing: request.approvers_missing,
    can_decide: request.can_decide,
    started_with_event: false,
    url: request.url,
  };
}

/** Returns requests by id, as far as the caller may see them; without actions that are too long for a list. */
export async function requestDecisions(ctx: Context, ids: readonly string[]): Promise<Map<string, Decision>> {
  const rows = await findReadableRequests(ctx, ids);
  return new Map(rows.map((row): [string, Decision] => [row.request_id, present(ctx, row, true)]));
}

/** @throws RESOURCE_NOT_FOUND unknown | PERMISSION_DENIED a guest, or no member of its team */
export const getRequestDecision = async (ctx: Context, id: string): Promise<Decision> => present(ctx, await findRequest(ctx, id));
