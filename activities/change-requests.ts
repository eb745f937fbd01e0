import { performRequest } from '../api/automation/requests/perform-request.js';
import type { Services } from '../api/platform/context.js';
import { settleRequest } from '../api/gate/requests/waiting/settle-request.js';
import {
  openRequestsStatement,
  requestDispatchesStatement,
  restartRequestsStatement,
} from '../api/gate/requests/waiting/settle.sql.js';
import {
  CHANGE_REQUEST,
  type ChangeRequestInput,
  type RequestActivities,
  type RequestOutbound,
  requestWorkflowId,
} from '../workflows/contracts/request-contract.js';
import { DECIDED_SIGNAL } from '../workflows/contracts/run-contract.js';
import { defineRowWorkflow } from './row-workflow.js';

/** An outbox row that starts or wakes a request. */
interface Row {
  outbox_id: number;
  kind: 'request.start' | 'request.wake';
  correlation_id: string;
  request_id: string;
  team_id: string;
  requested_by: string;
  source: string;
  systems: string[];
  status: string;
  outcome: string | null;
  depth: number;
  expires_at: Date;
  operations: number;
}

/** What caused a request, in the words of the search attribute. */
const TRIGGERS: Record<string, string> = { api: 'api', cli: 'api', mcp: 'mcp', gateway: 'mcp' };

const isOpen = ({ status, outcome }: Row): boolean =>
  ['pending', 'approved'].includes(status) || (status === 'redeemed' && outcome === null);

/** Change requests that wait. */
export const changeRequests = defineRowWorkflow<Row, { request_id: string }>({
  notes: [
    {
      process: 'change_request',
      workflowId: 'request:<request_id>',
      shows:
        'Change requests of programs that wait for people, for their use, or for a report; `GateExpiresAt` is the deadline of the decision',
    },
  ],
  invariants: [
    {
      name: 'requests_carried',
      words: 'No change request waits for more than 60 s without an open workflow',
      sql: /* sql */ `
        select request_id::text as violation from change_requests
        where (status in ('pending', 'approved') or (status = 'redeemed' and outcome is null))
          and created_at < clock_timestamp() - interval '60 seconds' order by created_at`,
      buildWorkflowId: requestWorkflowId,
    },
  ],
  activities: {
    core: (services: Services): RequestActivities => ({ settleRequest: (requestId) => settleRequest(services, requestId) }),
    outbound: (services, { outboundTurns }): RequestOutbound => ({
      performRequest: (requestId) => outboundTurns.take(() => performRequest(services, requestId)),
    }),
  },
  plural: 'change requests',
  kinds: ['request.start', 'request.wake'],
  dispatches: requestDispatchesStatement,
  workflow: CHANGE_REQUEST,
  getId: ({ request_id }) => requestWorkflowId(request_id),
  input: ({ request_id }): ChangeRequestInput => ({ requestId: request_id }),
  attributes: (row) => ({
    RunState: 'paused',
    GateState: 'pending',
    GateExpiresAt: row.expires_at,
    TriggerType: TRIGGERS[row.source] ?? row.source,
    EntityId: row.request_id,
    ActorId: row.requested_by,
    Depth: row.depth > 0 ? row.depth : null,
    TeamId: row.team_id,
  }),
  /** Systems and counts, never a title. */
  summary: ({ operations, systems }) =>
    `Change request: ${operations} ${operations === 1 ? 'operation' : 'operations'} on ${systems.join(', ')}`.slice(0, 200),
  details: ({ request_id, team_id }) => [`Change request \`${request_id}\` of team \`${team_id}\``],
  fairnessKey: ({ team_id }) => team_id,
  /** A request that ended before its start needs no workflow. A wake of an open one whose workflow was lost starts it again. */
  async dispatch(row, link, services) {
    const isFound =
      row.kind === 'request.wake' && (await link.signal(requestWorkflowId(row.request_id), { signal: DECIDED_SIGNAL }));
    if (!isFound && isOpen(row)) await link.start(row, services);
  },
  wake: { signal: DECIDED_SIGNAL },
  key: 'request_id',
  open: openRequestsStatement,
  restart: restartRequestsStatement,
});
