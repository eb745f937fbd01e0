import { AGENT } from './examples/agent.js';
import { AUDIT } from './examples/audit.js';
import { BULK } from './examples/bulk.js';
import { CYCLES } from './examples/cycles.js';
import { CUSTOM_FIELDS } from './examples/custom-fields.js';
import type { z } from 'zod';
import { DEFAULT_DETAILS, type ErrorCode } from '../platform/errors.js';
import { GRAPH } from './examples/graph.js';
import { AT, PEOPLE } from './examples/people.js';
import { REQUESTS } from './examples/requests.js';
import { RUNNERS } from './examples/runners.js';
import { APPROVALS } from './examples/approvals.js';
import { EXPIRES_AT, RUN_ID, RUNS } from './examples/runs.js';
import { SAVED_VIEWS } from './examples/saved-views.js';
import { TRIAGE } from './examples/triage.js';
import { WEBHOOKS } from './examples/webhooks.js';
import { WORK } from './examples/work.js';

const RESPONSES: Record<string, unknown> = {
  ...PEOPLE,
  ...WORK,
  ...GRAPH,
  ...AGENT,
  ...AUDIT,
  ...BULK,
  ...CYCLES,
  ...RUNS,
  ...APPROVALS,
  ...REQUESTS,
  ...RUNNERS,
  ...TRIAGE,
  ...WEBHOOKS,
  ...CUSTOM_FIELDS,
  ...SAVED_VIEWS,
};

/** Returns the example of a response schema, of a list of it, or of the first of several; undefined without one. */
export function responseExample(schema: z.ZodType): unknown {
  const id = schema.meta()?.id;
  if (id !== undefined) return RESPONSES[id];
  const { element, options } = schema as Partial<z.ZodArray<z.ZodType>> & Partial<z.ZodUnion<z.ZodType[]>>;
  if (options?.[0]) return responseExample(options[0]);
  const inner = element && responseExample(element);
  return inner === undefined ? undefined : [inner];
}

const errorExample = (error_code: ErrorCode, message: string, detail: unknown = DEFAULT_DETAILS[error_code]) => ({
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
  Error400: errorExample(
    'INVALID_REQUEST',
    'due_date is not a valid date',
    'Send an ISO 8601 date (2026-11-20) or date-time (2026-11-20T17:51:02Z)',
  ),
  Error401: errorExample('AUTHENTICATION_REQUIRED', 'Authentication required'),
  Error402: errorExample(
    'QUOTA_EXCEEDED',
    'The team has no room for this file',
    'Purge files from the trash, which count too, or ask the administrator for a larger quota.',
  ),
  Error403: errorExample('PERMISSION_DENIED', 'Token is missing the required scope: tasks:write'),
  Error404: errorExample('RESOURCE_NOT_FOUND', 'Task not found'),
  Error406: errorExample(
    'INVALID_REQUEST',
    'Not Acceptable: Client must accept both application/json and text/event-stream',
    'A request to this endpoint is one message of the Model Context Protocol.',
  ),
  Error408: errorExample(
    'INVALID_REQUEST',
    'The request took too long',
    'Nothing was stored. Send the file over a faster connection.',
  ),
  Error409: errorExample(
    'RESOURCE_CONFLICT',
    'The task is at version 4, not 3',
    'Since version 3 status changed, last by ada at 2026-11-20T17:51:02.123Z',
  ),
  Error410: errorExample(
    'APPROVAL_EXPIRED',
    `This approval expired at ${EXPIRES_AT}`,
    `Gate 1 of run ${RUN_ID} expired; reject it or replay the run`,
  ),
  Error413: errorExample('PAYLOAD_TOO_LARGE', 'The request body exceeds 1048576 bytes'),
  Error415: errorExample('UNSUPPORTED_MEDIA_TYPE', 'Send application/json in UTF-8 without Content-Encoding'),
  Error416: errorExample('INVALID_REQUEST', 'The file has 20480 bytes'),
  Error422: errorExample('VALIDATION_ERROR', 'Invalid field: title', {
    errors: [{ field: 'body.title', message: 'title must not be empty', type: 'too_small' }],
  }),
  Error429: errorExample('RATE_LIMIT_EXCEEDED', 'Too many requests', 'At most 10 requests a minute; try again in 42 seconds'),
  Error431: errorExample('INVALID_REQUEST', 'The request headers are too large', 'Correct the request before you send it again.'),
  Error500: errorExample('INTERNAL_ERROR', 'Internal error'),
  Error503: errorExample('INTERNAL_ERROR', 'Service temporarily unavailable'),
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
