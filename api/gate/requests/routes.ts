import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { approveRequest } from './decide/approve-request.js';
import { cancelRequest } from './decide/cancel-request.js';
import { editRequest } from './decide/edit-request.js';
import { rejectRequest } from './decide/reject-request.js';
import { listRequests } from './read/list-requests.js';
import { waitForRequest } from './read/wait-for-request.js';
import {
  ApprovedRequest,
  ApproveRequest,
  CancelRequest,
  ChangeRequest,
  ChangeRequests,
  EditRequest,
  ListRequests,
  ReadRequest,
  RedeemedRequest,
  RedeemRequest,
  RejectRequest,
  ReportOutcome,
  RequestPath,
} from './schema.js';
import { redeemRequest } from './use/redeem-request.js';
import { reportOutcome } from './use/report-outcome.js';

const tag = 'Change requests';
const one = { tag, params: RequestPath, scopeEnforced: true } as const;
const HASH = `sha256:${'0f'.repeat(32)}`;
const OPERATION = { system: 'payments', name: 'deploy', target: 'production', arguments: { version: '4.2' } };

export const requestRoutes: Endpoint[] = [
  endpoint({
    id: 'listChangeRequests',
    method: 'get',
    path: '/api/change-requests',
    tag,
    summary: 'List change requests',
    ability: 'request.list',
    scope: 'requests:read',
    scopeEnforced: true,
    query: ListRequests,
    response: ChangeRequests,
    pages: { cut: true },
    handle: ({ ctx, query }) => listRequests(ctx, query),
  }),
  endpoint({
    ...one,
    id: 'getChangeRequest',
    method: 'get',
    path: '/api/change-requests/:request_id',
    summary: 'Get a change request, or wait for a change of it',
    description: 'With `wait` the answer comes as soon as `seq` is more than `seen`, or at the end of that time: 200 either way.',
    ability: 'request.read',
    scope: 'requests:read',
    query: ReadRequest,
    response: ChangeRequest,
    errors: [404, 429],
    handle: ({ ctx, params, query, onHangUp }) => waitForRequest(ctx, params.request_id, query, onHangUp),
  }),
  endpoint({
    ...one,
    id: 'approveChangeRequest',
    method: 'post',
    path: '/api/change-requests/:request_id/approve',
    summary: 'Approve a change request',
    description:
      'A token needs `approvals:decide` by name: `admin:*` does not imply it here. It never decides about requests of its own user, nor where a code is asked for. The same person again changes nothing.',
    ability: 'request.decide',
    scope: 'approvals:decide',
    limit: 'request_approve',
    body: ApproveRequest,
    response: ApprovedRequest,
    errors: [404, 409, 410],
    example: { request_hash: HASH, comment: 'Go, after the backup' },
    handle: ({ ctx, params, body }) => approveRequest(ctx, params.request_id, body),
  }),
  endpoint({
    ...one,
    id: 'rejectChangeRequest',
    method: 'post',
    path: '/api/change-requests/:request_id/reject',
    summary: 'Reject a change request',
    ability: 'request.decide',
    scope: 'approvals:decide',
    limit: 'request_reject',
    body: RejectRequest,
    response: ChangeRequest,
    errors: [404, 409, 410],
    example: { request_hash: HASH, comment: 'Not on a Friday' },
    handle: ({ ctx, params, body }) => rejectRequest(ctx, params.request_id, body),
  }),
  endpoint({
    ...one,
    id: 'editChangeRequest',
    method: 'post',
    path: '/api/change-requests/:request_id/edit',
    summary: 'Change the operations of a change request, where its requester allows it',
    description:
      'A new revision with a new hash: approvals of the one before are void, and the user who edits is behind the request.',
    ability: 'request.edit',
    scope: 'approvals:decide',
    limit: 'request_edit',
    body: EditRequest,
    exactJson: true,
    response: ChangeRequest,
    errors: [404, 409, 410],
    example: { request_hash: HASH, operations: [OPERATION] },
    handle: ({ ctx, params, body }) => editRequest(ctx, params.request_id, body),
  }),
  endpoint({
    ...one,
    id: 'cancelChangeRequest',
    method: 'post',
    path: '/api/change-requests/:request_id/cancel',
    summary: 'Cancel a change request that was not used',
    ability: 'request.cancel',
    scope: 'requests:create',
    body: CancelRequest,
    response: ChangeRequest,
    errors: [404, 409, 410],
    example: { reason: 'Found another way' },
    handle: ({ ctx, params, body }) => cancelRequest(ctx, params.request_id, body.reason ?? null),
  }),
  endpoint({
    ...one,
    id: 'redeemChangeRequest',
    method: 'post',
    path: '/api/change-requests/:request_id/redeem',
    summary: 'Use an approval, once',
    description:
      'Returns the operations to execute and a receipt, which the service that executes can verify. Sent again with the same `redemption_id`, it returns the same bytes.',
    ability: 'request.use',
    scope: 'requests:create',
    body: RedeemRequest,
    response: RedeemedRequest,
    storable: false,
    errors: [404, 409, 410],
    example: { request_hash: HASH, redemption_id: '0197a000-0000-7000-8000-000000000016' },
    handle: ({ ctx, params, body }) => redeemRequest(ctx, params.request_id, body),
  }),
  endpoint({
    ...one,
    id: 'reportChangeRequestOutcome',
    method: 'post',
    path: '/api/change-requests/:request_id/outcome',
    summary: 'Report what became of a used change request',
    description:
      'Within seven days of its use. Without a report in a day its outcome is `unknown`, which a late report replaces.',
    ability: 'request.use',
    scope: 'requests:create',
    body: ReportOutcome,
    exactJson: true,
    response: ChangeRequest,
    errors: [404, 409],
    example: { status: 'succeeded', exit_code: 0, duration_ms: 72_000 },
    handle: ({ ctx, params, body }) => reportOutcome(ctx, params.request_id, body),
  }),
];
