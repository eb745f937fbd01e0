import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { RunParams } from '../schema.js';
import { approveGate } from './approve-gate.js';
import { pageOfApprovals } from './list-approvals.js';
import { rejectGate } from './reject-gate.js';
import { ApprovalList, ApproveGate, Approved, ListApprovals, RejectGate, Rejected } from './schema.js';

const tag = 'Approvals';

const WHOSE =
  'With `allow_self_approval: false` the users behind a run may not approve it (403): the automation’s creator, the authors of its version and actions, and the user who started or replayed it. The same holds for the users behind the run that caused it, the sender of a delivery (by connected account), the user who last set the due date, and an impersonating admin. If no other user has the role, the run waits until it is rejected or expires.';
const RETRIES =
  'Send `gate_index` or an `Idempotency-Key`: without either, a retried request may decide the next gate of the run.';

/** Decisions need their scope whatever the token (docs/decisions/identity.md#token-scopes). */
const DECIDING = { scope: 'approvals:decide', scopeEnforced: true } as const;

export const approvalRoutes: Endpoint[] = [
  endpoint({
    id: 'listApprovals',
    method: 'get',
    path: '/api/automations/approvals',
    tag,
    summary: 'List pending approvals',
    description: 'All your teams, earliest deadline first. Staged actions are shown by type only.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListApprovals,
    response: ApprovalList,
    pages: { cut: true, counted: true },
    handle: ({ ctx, query }) => pageOfApprovals(ctx, query),
  }),
  endpoint({
    id: 'approveRun',
    method: 'post',
    path: '/api/automations/runs/:run_id/approve',
    tag,
    summary: 'Approve a gate',
    description: `The staged actions then run as the automation’s creator. The response shows the stored state; the actions run later. ${WHOSE} ${RETRIES}`,
    ability: 'gate.decide',
    ...DECIDING,
    params: RunParams,
    body: ApproveGate,
    response: Approved,
    errors: [404, 409, 410],
    example: { gate_index: 1 },
    handle: ({ ctx, params, body }) => approveGate(ctx, params.run_id, body),
  }),
  endpoint({
    id: 'rejectRun',
    method: 'post',
    path: '/api/automations/runs/:run_id/reject',
    tag,
    summary: 'Reject a gate',
    description: `Also works after the gate expired. A run with a failed action ends as failed. ${RETRIES}`,
    ability: 'gate.decide',
    ...DECIDING,
    params: RunParams,
    body: RejectGate,
    response: Rejected,
    errors: [404, 409, 410],
    example: { gate_index: 1, reason: 'Not on a Friday' },
    handle: ({ ctx, params, body }) => rejectGate(ctx, params.run_id, body),
  }),
];
