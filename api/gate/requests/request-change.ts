import type { AuditAction } from '../../platform/changes/audit-actions.js';
import type { Change } from '../../platform/changes/record-change.js';
import { type Config, webAddress } from '../../platform/config.js';
import type { EventType } from '../../platform/events/event-types.js';
import { hashText } from '../staging/canonical.js';
import { readContent } from './content.js';
import type { RequestStatus } from './schema.js';

/** What the trace of a change is made from. */
export interface TracedRequest {
  request_id: string;
  team_id: string;
  canonical: string;
  request_hash: Buffer;
  operation_hashes: Buffer[];
  revision: number;
  self_ids: string[];
  depth: number;
}

/** Event types about requests. */
export type RequestEvent = Extract<EventType, `request.${string}`>;

/** Fields of an event's request: ids, names and states, never arguments. */
function eventRequest(config: Config, { request_id, team_id, canonical }: TracedRequest, status: RequestStatus) {
  const { title, operations, requirement } = readContent(canonical);
  return {
    request_id,
    team_id,
    title,
    status,
    systems: operations.map(({ system }) => system),
    names: operations.map(({ name }) => name),
    requirement,
    url: webAddress(config, `/app/approvals/request/${request_id}`),
  };
}

/** Builds the trace of a change: audit entry, activity line and event. The audit log keeps hashes, which prove a text, and no arguments. */
export function requestChange(
  config: Config,
  request: TracedRequest,
  {
    action,
    status,
    summary,
    event,
    details = {},
    severity,
  }: {
    action: AuditAction;
    status: RequestStatus;
    summary?: string;
    event?: RequestEvent;
    details?: Record<string, unknown>;
    severity?: Change['severity'];
  },
): Change {
  const { request_id, team_id, request_hash, operation_hashes, revision, self_ids, depth, canonical } = request;
  const hashes = { request_hash: hashText(request_hash), operation_hashes: operation_hashes.map(hashText), revision };
  return {
    team_id,
    feature: 'requests',
    action,
    ...(severity && { severity }),
    entity_type: 'change_request',
    entity_id: request_id,
    title: readContent(canonical).title,
    ...(summary && { summary }),
    details: { ...hashes, ...details },
    depth,
    causeUserIds: self_ids,
    ...(event && { event: { type: event, payload: { request: eventRequest(config, request, status) } } }),
  };
}
