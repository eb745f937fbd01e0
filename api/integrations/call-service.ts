import { isPassingStatus, OutboundFailure } from '../core/http-client/failure.js';
import { TRUSTED } from '../core/http-client/policy.js';
import { type OutboundResponse, type OutboundRequest, sendRequest } from '../core/http-client/send-request.js';

const TIMEOUT_MS = 10_000;
/** What a service says of a record may be longer than what a person is shown. */
const MAX_BYTES = 1024 * 1024;

/**
 * Calls a service at an address of the operator's settings, which may stand in our own network.
 * @throws OutboundFailure
 */
export const callService = (request: Omit<OutboundRequest, 'timeoutMs' | 'maxBytes'>): Promise<OutboundResponse> =>
  sendRequest(TRUSTED, { ...request, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });

/** The service may say something else in a moment; one that is asked too often may call it forbidden. */
export const isAway = ({ status, retryAfterMs }: OutboundResponse): boolean =>
  isPassingStatus(status) || (status === 403 && retryAfterMs !== null);

/** An answer that says nothing of what was asked: as if there had been none. */
export const noAnswer = ({ status, retryAfterMs }: OutboundResponse): OutboundFailure =>
  new OutboundFailure('connection_failed', `the service answered ${status}, and not what it was asked for`, retryAfterMs);

/** An answer's JSON, an object or a list; undefined where it is neither. */
export function jsonOf({ body }: OutboundResponse): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
