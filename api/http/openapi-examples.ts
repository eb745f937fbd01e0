import type { z } from 'zod';
import type { ErrorCode } from '../core/errors.js';
import { GRAPH } from './examples/graph.js';
import { AT, PEOPLE } from './examples/people.js';
import { EXPIRES_AT, RUN_ID, RUNS } from './examples/runs.js';
import { WORK } from './examples/work.js';

const RESPONSES: Record<string, unknown> = { ...PEOPLE, ...WORK, ...GRAPH, ...RUNS };

/** Returns the example of a response schema, of a list of it, or of the first of several; undefined without one. */
export function responseExample(schema: z.ZodType): unknown {
  const id = schema.meta()?.id;
  if (id !== undefined) return RESPONSES[id];
  const { element, options } = schema as Partial<z.ZodArray<z.ZodType>> & Partial<z.ZodUnion<z.ZodType[]>>;
  if (options?.[0]) return responseExample(options[0]);
  const inner = element && responseExample(element);
  return inner === undefined ? undefined : [inner];
}

const errorExample = (error_code: ErrorCode, message: string, detail: unknown = message) => ({
  value: {
    success: false,
    verified: false,
    status: 'failure',
    error_code,
    message,
    detail,
    correlation_id: '0197a1c0-77aa-7c3a-9f00-1f2e3d4c5b6a',
    timestamp: AT,
  },
});

/** One error per status, by its name in the document's components. */
export const ERRORS: Record<string, { value: unknown }> = {
  Error400: errorExample('INVALID_REQUEST', 'due_date is not a date', 'due_date takes an ISO 8601 date or date-time'),
  Error401: errorExample('AUTHENTICATION_REQUIRED', 'Authentication required'),
  Error403: errorExample('PERMISSION_DENIED', 'Token is missing the required scope: tasks:write'),
  Error404: errorExample('RESOURCE_NOT_FOUND', 'Task not found'),
  Error409: errorExample('RESOURCE_CONFLICT', 'The task has changed since version 3'),
  Error410: errorExample(
    'APPROVAL_EXPIRED',
    `This approval expired at ${EXPIRES_AT}`,
    `Gate 1 of run ${RUN_ID} lapsed; reject it or replay the run`,
  ),
  Error413: errorExample('PAYLOAD_TOO_LARGE', 'The body is larger than 1048576 bytes'),
  Error415: errorExample('UNSUPPORTED_MEDIA_TYPE', 'Send application/json in UTF-8 without Content-Encoding'),
  Error422: errorExample('VALIDATION_ERROR', 'Validation failed', {
    errors: [{ field: 'body.title', message: 'Too small: expected string to have >=1 characters', type: 'too_small' }],
  }),
  Error429: errorExample('RATE_LIMIT_EXCEEDED', 'Too many requests', 'At most 10 requests a minute; try again in 42 s'),
  Error500: errorExample('INTERNAL_ERROR', 'Something went wrong on our side'),
  Error503: errorExample('INTERNAL_ERROR', 'The service is temporarily unavailable'),
};

/** Returns a reference to the error example of a status. */
export const errorExampleRef = (status: number) => {
  const name = `Error${status}`;
  return name in ERRORS ? { examples: { [name]: { $ref: `#/components/examples/${name}` } } } : {};
};

/** A delivery of a code host, reduced to the fields that are read. */
export const DELIVERY = {
  action: 'closed',
  repository: { full_name: 'acme/rocket' },
  sender: { login: 'octocat' },
  pull_request: { number: 41, title: 'Harden the session cookie', merged: true, body: 'Closes #12' },
};
