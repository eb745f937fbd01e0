import { ADA, AT, TEAM_ID } from './people.js';
import { AUTOMATION_ID, EXPIRES_AT, MESSAGE, RUN_ID } from './runs.js';
import { TASK_ID } from './work.js';

/** Example responses about decisions. */

const line = {
  index: 2,
  type: 'set_task_status',
  verb: 'Change status',
  title: 'Login page answers 500 when the session cookie is garbage',
  href: `/app/tasks/${TASK_ID}`,
  risk: 'low',
  reversible: true,
  is_deletion: false,
  fields: [{ name: 'status', before: 'in_review', after: 'done', kind: 'text' }],
  refused: null,
  skipped: null,
  changed: null,
};

export const APPROVALS: Record<string, unknown> = {
  Decision: {
    kind: 'gate',
    id: RUN_ID,
    gate_index: 1,
    title: 'Deploy on merge',
    message: MESSAGE,
    team_id: TEAM_ID,
    requested_by: ADA,
    requested_at: AT,
    expires_at: EXPIRES_AT,
    state: 'pending',
    requirement: { role: 'manager', approvals: 1, allow_self: false, signed_in: false },
    approvals: [],
    decided_by: null,
    decided_at: null,
    comment: null,
    staged_hash: 'sha256:9f2c1a7be04d5a6f8c3e1b2d4f60718293a4b5c6d7e8f90112233445566778899',
    seen_hash: 'sha256:1b4f0e9851971998e732078544c96b36c3d01cedf7caa332359d6f1d83567014',
    actions: [line],
    behind: [ADA],
    approvers_missing: 0,
    can_decide: true,
    started_with_event: false,
    url: `https://assent.example.com/app/approvals/gate/${RUN_ID}`,
  },
  Decided: {
    decision_id: '019a9f00-0000-7000-8000-0000000000d1',
    kind: 'gate',
    id: RUN_ID,
    gate_index: 1,
    title: 'Deploy on merge',
    message: MESSAGE,
    team_id: TEAM_ID,
    state: 'approved',
    closed_reason: null,
    requested_by: ADA,
    requested_at: AT,
    decided_by: ADA,
    decided_at: AT,
    comment: 'Looks good',
    approved_by: [ADA],
    status: 'succeeded',
    outcome: null,
    url: `https://assent.example.com/app/runs/${RUN_ID}`,
  },
  PublicKeySet: {
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        kid: 'c5e7b1f0a9d24b36',
        alg: 'EdDSA',
        use: 'sig',
      },
    ],
  },
  DecidedMany: {
    results: [
      { kind: 'gate', id: RUN_ID, status: 'running' },
      {
        kind: 'plan',
        id: '019a9f00-0000-7000-8000-000000000041',
        error_code: 'RESOURCE_CONFLICT',
        reason: 'decide_singly',
        message: 'Open it and decide it by itself: it is of high risk',
        http_status: 409,
      },
    ],
  },
  DecisionFigures: {
    from: '2026-10-21T00:00:00.000Z',
    to: AT,
    by: 'source',
    figures: [
      {
        key: AUTOMATION_ID,
        count: 41,
        approved: 36,
        rejected: 3,
        expired: 2,
        cancelled: 0,
        waiting_p50_seconds: 780,
        waiting_p95_seconds: 41_200,
      },
    ],
  },
};
