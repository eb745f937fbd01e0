import type { z } from 'zod';
import type { ErrorCode } from '../core/errors.js';

/** Example responses: the most common objects, in one consistent story. */

const RUN_ID = '0197a1c0-5b1e-7c3a-9f00-1f2e3d4c5b6a';
const AUTOMATION_ID = '0197a1b0-0000-7c3a-9f00-1f2e3d4c5b6a';
const TEAM_ID = '0197a000-0000-7000-8000-000000000003';
const PROJECT_ID = '0197a000-0000-7000-8000-000000000002';
const TASK_ID = '0197a000-0000-7000-8000-000000000001';
const ADA = '0197a000-0000-7000-8000-000000000005';
const AT = '2026-11-20T17:51:02.123Z';
const EXPIRES_AT = '2026-11-23T17:51:02.123Z';

const action = (index: number, type: string, status: string, more: Record<string, unknown> = {}) => ({
  index,
  type,
  name: null,
  status,
  attempts: status === 'staged' ? 0 : 1,
  started_at: status === 'staged' ? null : AT,
  finished_at: status === 'succeeded' ? AT : null,
  due_at: null,
  output: null,
  error: null,
  ...more,
});

const gate = {
  gate_index: 1,
  required_role: 'manager',
  required_approvals: 1,
  approvals: [],
  requested_at: AT,
  expires_at: EXPIRES_AT,
};

/** Paused at its gate: the comment was created, the other actions are staged for a manager. */
const runSummary = {
  run_id: RUN_ID,
  automation_id: AUTOMATION_ID,
  automation_name: 'Deploy on merge',
  automation_version: 4,
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  status: 'paused',
  skip_reason: null,
  condition_error: null,
  trigger_type: 'forge.pr_merged',
  event_truncated: false,
  is_test: false,
  triggered_by: null,
  depth: 0,
  retry_of: null,
  retried_by: null,
  queued_at: AT,
  started_at: AT,
  finished_at: null,
  duration_ms: null,
  error: null,
  actions: [
    action(0, 'add_comment', 'succeeded', { output: { comment_id: '0197a000-0000-7000-8000-000000000004' } }),
    action(1, 'require_approval', 'running'),
    action(2, 'http_request', 'staged'),
  ],
  approval: { ...gate, expired: false, decision: null, decided_by: null, decided_at: null, reason: null },
  workflow_id: `run:${RUN_ID}`,
};

const approval = {
  ...gate,
  run_id: RUN_ID,
  automation_id: AUTOMATION_ID,
  automation_name: 'Deploy on merge',
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  message: 'Close “Sign-in fails on Safari” now that #12 is merged?',
  can_decide: true,
  expired: false,
  creator_left: false,
  trigger_type: 'forge.pr_merged',
  staged_action_types: ['http_request'],
  staged_hash: 'sha256:9f2c1a7be04d5a6f8c3e1b2d4f60718293a4b5c6d7e8f90112233445566778899',
  failed_before_gate: 0,
};

/** By the id of the response schema. */
const ANSWERS: Record<string, unknown> = {
  Run: { ...runSummary, event: { type: 'forge.pr_merged', repo: 'acme/rocket', pr_number: 41, task: { task_id: TASK_ID } } },
  RunSummary: runSummary,
  ApprovalList: { approvals: [approval], total: 1 },
  Notification: {
    notification_id: '0197a1c0-8000-7c3a-9f00-1f2e3d4c5b6a',
    kind: 'approval_requested',
    message: 'Close “Sign-in fails on Safari” now that #12 is merged? Until 2026-11-23 17:51 UTC.',
    team_id: TEAM_ID,
    run_id: RUN_ID,
    automation_name: 'Deploy on merge',
    gate: { state: 'approved', decided_by: ADA, decided_at: AT },
    created_at: AT,
    read_at: null,
  },
  Approved: {
    run_id: RUN_ID,
    status: 'running',
    decision: 'approved',
    decided_by: ADA,
    decided_at: AT,
    approvals_needed: 0,
    gate_index: 1,
  },
};

/** Returns the example of a response schema, or of a list of it; undefined without one. */
export function answerExample(schema: z.ZodType): unknown {
  const id = schema.meta()?.id;
  if (id !== undefined) return ANSWERS[id];
  const element = (schema as Partial<z.ZodArray>).element as z.ZodType | undefined;
  const inner = element && answerExample(element);
  return inner === undefined ? undefined : [inner];
}

const refusal = (error_code: ErrorCode, message: string, detail: unknown = message) => ({
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

/** One error per status, under its name in the document's components. */
export const REFUSALS: Record<string, { value: unknown }> = {
  Error400: refusal('INVALID_REQUEST', 'due_date is not a date', 'due_date takes an ISO 8601 date or date-time'),
  Error401: refusal('AUTHENTICATION_REQUIRED', 'Authentication required'),
  Error403: refusal('PERMISSION_DENIED', 'Token is missing the required scope: tasks:write'),
  Error404: refusal('RESOURCE_NOT_FOUND', 'Task not found'),
  Error409: refusal('RESOURCE_CONFLICT', 'The task has changed since version 3'),
  Error410: refusal(
    'APPROVAL_EXPIRED',
    `This approval expired at ${EXPIRES_AT}`,
    `Gate 1 of run ${RUN_ID} lapsed; reject it or replay the run`,
  ),
  Error413: refusal('PAYLOAD_TOO_LARGE', 'The body is larger than 1048576 bytes'),
  Error415: refusal('UNSUPPORTED_MEDIA_TYPE', 'Send application/json in UTF-8 without Content-Encoding'),
  Error422: refusal('VALIDATION_ERROR', 'Validation failed', {
    errors: [{ field: 'body.title', message: 'Too small: expected string to have >=1 characters', type: 'too_small' }],
  }),
  Error429: refusal('RATE_LIMIT_EXCEEDED', 'Too many requests', 'At most 10 requests a minute; try again in 42 s'),
  Error500: refusal('INTERNAL_ERROR', 'Something went wrong on our side'),
  Error503: refusal('INTERNAL_ERROR', 'The service is temporarily unavailable'),
};

/** Returns the reference to the error example of a status. */
export const refusalExample = (status: number) => {
  const name = `Error${status}`;
  return name in REFUSALS ? { examples: { [name]: { $ref: `#/components/examples/${name}` } } } : {};
};

/** Payload of a code host, reduced to the fields that are read. */
export const DELIVERY = {
  action: 'closed',
  repository: { full_name: 'acme/rocket' },
  sender: { login: 'octocat' },
  pull_request: { number: 41, title: 'Count T-3 again', merged: true, body: 'Closes #7' },
};
