import { isPassingStatus } from '../../platform/http-client/failure.js';
import { outboundPolicy } from '../../platform/http-client/policy.js';
import { type OutboundResponse, type OutboundRequest, sendRequest } from '../../platform/http-client/send-request.js';
import type { OutboundContext, OutboundResult } from '../../gate/contract/action-type.js';

/** Characters of a response that the run's record keeps. */
const MAX_STORED_LENGTH = 4_096;

/** Converts a response for the record. Redirects are not followed, so they count as failures too. */
function toResult({ status, body, isCut, retryAfterMs }: OutboundResponse): OutboundResult {
  const output = { status, body };
  if (status >= 200 && status < 300) return { output, isCut };
  const message = `The receiver returned ${status}`;
  return { output, isCut, failure: { code: 'http_status', message, isRetryable: isPassingStatus(status), waitMs: retryAfterMs } };
}

/**
 * Sends a user-defined request through the restricted HTTP client.
 * @throws OutboundFailure
 */
export const sendActionRequest = async ({ services }: OutboundContext, request: OutboundRequest): Promise<OutboundResult> =>
  toResult(await sendRequest(outboundPolicy(services.config), request));

/** Truncates a text to the length that a record keeps. */
export const truncateKept = (text: string): string =>
  text.length > MAX_STORED_LENGTH ? `${text.slice(0, MAX_STORED_LENGTH).toWellFormed()}…` : text;
