/** Names and shapes of a change request. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the workflow of a change request. */
    'request.start': { request_id: string; incarnation: number };
    /** Wake it after a decision, a use or a report. */
    'request.wake': { request_id: string; incarnation: number };
  }
}

/** Workflow type of a change request. */
export const CHANGE_REQUEST = 'changeRequest';
export const requestWorkflowId = (requestId: string): string => `request:${requestId}`;
export interface ChangeRequestInput extends Searchable {
  requestId: string;
  /** Looks of one execution; tests give fewer. */
  rounds?: number;
}
/** State of a request, read from its row. Ids, counts and codes only. */
export interface RequestView {
  /** `gone`: there is no such request. */
  state: 'pending' | 'approved' | 'redeemed' | 'rejected' | 'cancelled' | 'expired' | 'stale' | 'gone';
  /** Milliseconds until the next change by time, by the database's clock; null if there is none. */
  msLeft: number | null;
  /** Assent performs it now. */
  performs: boolean;
  /** The next change is the reminder. */
  reminds: boolean;
  /** When the request expires, or the approval does. */
  until: string | null;
  source: string | null;
  systems: string[];
  operations: number;
  role: string | null;
  approvals: number;
  needed: number;
  decidedBy: string | null;
  redeemedBy: string | null;
  /** Why it ended. */
  reason: string | null;
  outcome: string | null;
}
/** The activity that performs an approved request, on the queue `outbound`. */
export interface RequestOutbound {
  /** Performs it at most once, and stores what came of it. */
  performRequest(requestId: string): Promise<{ outcome: string | null }>;
}
export interface RequestActivities {
  /** Reminds of the request, expires it, or ends its outcome as unknown, if its time has come. */
  settleRequest(requestId: string): Promise<RequestView>;
}
