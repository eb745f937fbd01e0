import { continueAsNew, defineSignal, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import { OUTBOUND_HEARTBEAT, outboundQueue } from './contracts/queues.js';
import type { ChangeRequestInput, RequestActivities, RequestOutbound, RequestView } from './contracts/request-contract.js';
import { DECIDED_SIGNAL } from './contracts/run-contract.js';
import { type Found, followRow } from './follow-row.js';
import { SEARCH_ATTRIBUTES } from './search-attributes.js';
import { showDetails } from './show-details.js';
import { upsertAttributes } from './upsert-attributes.js';

/** A short database write, retried until it succeeds. */
const { settleRequest } = proxyLocalActivities<RequestActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 ms', maximumInterval: '10 seconds' },
  summary: 'Read request',
});

/** Calls another server, at most once: the row counts the attempts, so an activity that is repeated sends nothing again. */
const outbound = () =>
  proxyActivities<RequestOutbound>({
    taskQueue: outboundQueue(workflowInfo().taskQueue),
    summary: 'Perform request',
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: OUTBOUND_HEARTBEAT.missedAfterMs,
    retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  });

const decided = defineSignal(DECIDED_SIGNAL);

const minute = (iso: string | null): string => (iso === null ? '' : `${iso.slice(0, 16).replace('T', ' ')} UTC`);
const by = (userId: string | null): string => (userId === null ? '' : ` by \`${userId}\``);

function describeState(view: RequestView): string {
  const { state, until, performs, role, approvals, needed, reason, outcome, decidedBy, redeemedBy } = view;
  switch (state) {
    case 'pending':
      return `» Waiting for ${needed - approvals} of ${needed} approvals of the role ${role} or above, until ${minute(until)}`;
    case 'approved':
      return `» Approved${by(decidedBy)}. ${performs ? 'Assent performs it' : 'Waiting for the requester to use it'}, until ${minute(until)}`;
    case 'redeemed':
      return outcome === null
        ? `» Used${by(redeemedBy)}. Waiting for the report of its outcome`
        : `Ended: used, outcome **${outcome}**`;
    case 'gone':
      return 'There is no such request';
    default:
      return `Ended: **${state}**${reason === null ? '' : ` (\`${reason}\`)`}${by(decidedBy)}`;
  }
}

const SOURCES: Record<string, string> = {
  api: 'From the API',
  cli: 'From the command line',
  mcp: 'From an outside agent',
  gateway: 'From the gateway of other MCP servers',
};

/** Name of the request for operators: systems and counts, never a title or an argument. */
const buildHeading = ({ operations, systems }: RequestView): string =>
  `Change request: ${operations} ${operations === 1 ? 'operation' : 'operations'} on ${systems.join(', ')}`;

const buildDetails = (view: RequestView): string =>
  view.state === 'gone'
    ? describeState(view)
    : [`### ${buildHeading(view)}`, SOURCES[view.source ?? ''] ?? '', describeState(view)].join('\n\n');

/** Wait after a performance that could not begin. */
const RECHECK_MS = 60_000;
/** Looks of one execution; a look follows a signal or a timer. */
const ROUNDS = 200;
const NEXT: Partial<Record<RequestView['state'], string>> = {
  pending: 'Request expires',
  approved: 'Approval expires',
  redeemed: 'Outcome becomes unknown',
};

type RequestResult = Pick<RequestView, 'state' | 'reason' | 'outcome'>;

/**
 * A change request: it waits for people, then for its use, then for the report of its outcome. PostgreSQL holds it and decides; a signal or a timer
 * only wakes the workflow to read the row again. Returns how it ended.
 */
export async function changeRequest(input: ChangeRequestInput): Promise<RequestResult> {
  const look = async (): Promise<Found<RequestResult>> => {
    const view = await settleRequest(input.requestId);
    const { state, reason, outcome, msLeft, performs, reminds } = view;
    showDetails(buildDetails(view));
    upsertAttributes(
      input,
      { key: SEARCH_ATTRIBUTES.RunState, value: state === 'pending' ? 'paused' : state },
      { key: SEARCH_ATTRIBUTES.GateState, value: state === 'redeemed' ? 'approved' : state },
    );
    if (performs) {
      const { outcome: done } = await outbound().performRequest(input.requestId);
      return done === null ? { waitMs: RECHECK_MS, summary: 'Recheck' } : 'recheck';
    }
    if (msLeft === null) return { end: { state, reason, outcome } };
    return { waitMs: msLeft, summary: reminds ? 'Reminder' : (NEXT[state] ?? 'Recheck') };
  };
  const ended = await followRow([decided], input.rounds ?? ROUNDS, look);
  return ended ? ended.end : continueAsNew<typeof changeRequest>(input);
}
