import { isPassingStatus } from '../core/http-client/failure.js';
import { outboundPolicy } from '../core/http-client/policy.js';
import { type OutboundResponse, type OutboundRequest, sendRequest } from '../core/http-client/send-request.js';
import type { OutboundContext, OutboundResult } from './action-type.js';

/** Characters of an answer that the run's record keeps. */
const KEPT = 4_096;

/** What the record shows of an answer: a redirect was not followed, so it is a failure as well. */
function sentOf({ status, body, isCut, retryAfterMs }: OutboundResponse): OutboundResult {
  const output = { status, body };
  if (status >= 200 && status < 300) return { output, isCut };
  const message = `The receiver answered ${status}`;
  return { output, isCut, failure: { code: 'http_status', message, isRetryable: isPassingStatus(status), waitMs: retryAfterMs } };
}

/** Sends a request that a person wrote, through the one guarded client. @throws OutboundFailure */
export const sendActionRequest = async ({ services }: OutboundContext, request: OutboundRequest): Promise<OutboundResult> =>
  sentOf(await sendRequest(outboundPolicy(services.config), request));

/** As much of a text as a record keeps. */
export const keptOf = (text: string): string => (text.length > KEPT ? `${text.slice(0, KEPT).toWellFormed()}…` : text);
