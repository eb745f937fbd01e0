import { z } from 'zod';
import { METHODS, type OutboundRequest } from '../../platform/http-client/send-request.js';
import type { OutboundAction } from '../../gate/contract/action-type.js';
import { sendActionRequest } from './send-action-request.js';
import { WebAddress } from './web-address.js';

/** Timeout of the whole request. */
const TIMEOUT_MS = 10_000;
const MAX_HEADERS = 50;

const Params = z.object({
  method: z.preprocess((value) => (typeof value === 'string' ? value.toUpperCase() : value), z.enum(METHODS)),
  url: WebAddress,
  headers: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `At most ${MAX_HEADERS} headers`)
    .optional(),
  body: z.json().optional().meta({ description: 'Text is sent unchanged, everything else as JSON' }),
});

const has = (headers: Record<string, string>, name: string): boolean =>
  Object.keys(headers).some((key) => key.toLowerCase() === name);

/** An HTTP request to build: `key` is the same at every attempt, so that the receiver recognizes a repetition. */
type Built = z.output<typeof Params> & { key: string };

/** Returns a request with the headers that it lacks. Text is sent unchanged, everything else as JSON. */
export function buildHttpRequest({ method, url, headers = {}, body, key }: Built): Omit<OutboundRequest, 'timeoutMs'> {
  const isText = typeof body === 'string';
  return {
    method,
    url,
    headers: {
      ...(body === undefined || has(headers, 'content-type')
        ? {}
        : { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json' }),
      ...(has(headers, 'user-agent') ? {} : { 'user-agent': 'Assent' }),
      ...headers,
      ...(has(headers, 'idempotency-key') ? {} : { 'idempotency-key': key }),
    },
    body: body === undefined || isText ? body : JSON.stringify(body),
  };
}

export const httpRequest: OutboundAction<z.output<typeof Params>> = {
  type: 'http_request',
  label: 'Send an HTTP request',
  category: 'core',
  params: Params,
  secrets: true,
  send: (context, params) =>
    sendActionRequest(context, { ...buildHttpRequest({ ...params, key: context.key }), timeoutMs: TIMEOUT_MS }),
};
