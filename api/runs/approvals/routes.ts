import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { RunParams } from '../../automations/schema.js';
import { approveGate } from './approve-gate.js';
import { listApprovals } from './list-approvals.js';
import { rejectGate } from './reject-gate.js';
import { ApprovalList, ApproveGate, Approved, ListApprovals, RejectGate, Rejected } from './schema.js';

const tag = 'Approvals';

const WHOSE =
  'Where the gate has `allow_self_approval: false`, 403 for the automation’s creator, for the author of the run’s version or of the actions in it, and for whoever started the run or what it replays. Of a run that another automation caused, for these people of that automation’s run too; of one that a delivery caused, for its sender, by the connected account; of one that a due date caused, for whoever set it last; of a change made while impersonating, for the administrator. Where nobody else has the role, the run waits until it is rejected or lapses.';
const RETRIES =
  'Send `gate_index`, or an `Idempotency-Key`: a blind retry of a decision without either may meet the next gate of the run, and decide that.';

export const approvalRoutes: Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/automations/approvals',
    tag,
    summary: 'List what waits for an approval, oldest deadline first',
    description: 'Spans all your teams. What is staged is named by its types only.',
    ability: 'automation.list',
    scope: 'automations:read',
    query: ListApprovals,
    response: ApprovalList,
    handle: ({ ctx, query }) => listApprovals(ctx, query.limit),
  }),
  endpoint({
    method: 'post',
    path: '/api/automations/runs/:run_id/approve',
    tag,
    summary: 'Approve the gate that a run waits at',
    description: `The staged actions then run as the automation’s creator. The answer tells the stored state, not the effects. ${WHOSE} ${RETRIES}`,
    ability: 'gate.decide',
    scope: 'automations:write',
    params: RunParams,
    body: ApproveGate,
    response: Approved,
    errors: [404, 409, 410],
    example: { gate_index: 1 },
    handle: ({ ctx, params, body }) => approveGate(ctx, params.run_id, body.gate_index ?? null),
  }),
  endpoint({
    method: 'post',
    path: '/api/automations/runs/:run_id/reject',
    tag,
    summary: 'Reject the gate that a run waits at',
    description: `Works after the gate’s time has passed, too. A run with a failed action ends as failed. ${RETRIES}`,
    ability: 'gate.decide',
    scope: 'automations:write',
    params: RunParams,
    body: RejectGate,
    response: Rejected,
    errors: [404, 409, 410],
    example: { gate_index: 1, reason: 'Not on a Friday' },
    handle: ({ ctx, params, body }) => rejectGate(ctx, params.run_id, body),
  }),
];
