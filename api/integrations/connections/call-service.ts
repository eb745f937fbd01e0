import { isPassingStatus, OutboundFailure } from '../../platform/http-client/failure.js';
import { TRUSTED } from '../../platform/http-client/policy.js';
import { type OutboundResponse, type OutboundRequest, sendRequest } from '../../platform/http-client/send-request.js';

const TIMEOUT_MS = 10_000;
/** A service's JSON may exceed the limit for user-defined requests. */
const MAX_BYTES = 1024 * 1024;

/**
 * Calls a service at an address from the operator's settings, which may be in our own network.
 * @throws OutboundFailure
 */
export const callService = (request: Omit<OutboundRequest, 'timeoutMs' | 'maxBytes'>): Promise<OutboundResponse> =>
  sendRequest(TRUSTED, { ...request, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });

/** Returns true if the service may respond differently later; some services report rate limits as 403. */
export const isAway = ({ status, retryAfterMs }: OutboundResponse): boolean =>
  isPassingStatus(status) || (status === 403 && retryAfterMs !== null);

/** Treats a response without the expected content as none. */
export const noAnswer = ({ status, retryAfterMs }: OutboundResponse): OutboundFailure =>
  new OutboundFailure('connection_failed', `the service returned ${status} with an unexpected response`, retryAfterMs);

/** Parses a response's JSON object or list; undefined if it is neither. */
export function parseJson({ body }: OutboundResponse): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
