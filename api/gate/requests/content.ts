import type { Risk } from '../contract/action-type.js';
import type { Operation } from '../staging/operation.js';
import type { ChangeRequest } from './schema.js';

/** An operation with what the requester claims about it: the claims are in the request's hash, not in the operation's. */
export interface ClaimedOperation extends Operation {
  summary?: string;
  risk?: Risk;
  reversible?: boolean;
}

/** What people read and approve, as the text of a request holds it. */
export interface RequestContent {
  v: 1;
  request_id: string;
  revision: number;
  team_id: string;
  requested_by: string;
  token_id: string | null;
  source: ChangeRequest['source'];
  title: string;
  reason: string | null;
  operations: ClaimedOperation[];
  requirement: ChangeRequest['requirement'];
  executor: ChangeRequest['executor'];
  editable: string[];
  context: Record<string, string> | null;
  expires_at: string;
  use_within_seconds: number;
}

/** Parses the stored text of a request. */
export const readContent = (canonical: string): RequestContent => JSON.parse(canonical) as RequestContent;
