import { nameCaller, RUN_HEADER } from './calling-run.js';
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
 * Sends a user-defined request through the restricted HTTP client. It names its run, whatever headers its author gives.
 * @throws OutboundFailure
 */
export async function sendActionRequest({ services, key }: OutboundContext, request: OutboundRequest): Promise<OutboundResult> {
  const others = Object.entries(request.headers ?? {}).filter(([name]) => name.toLowerCase() !== RUN_HEADER);
  const headers = { ...Object.fromEntries(others), [RUN_HEADER]: nameCaller(services.config, key) };
  return toResult(await sendRequest(outboundPolicy(services.config), { ...request, headers }));
}

/** Truncates a text to the length that a record keeps. */
export const truncateKept = (text: string): string =>
  text.length > MAX_STORED_LENGTH ? `${text.slice(0, MAX_STORED_LENGTH).toWellFormed()}…` : text;
