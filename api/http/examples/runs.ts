import { ADA, AT, MAX, TEAM_ID } from './people.js';
import { PROJECT_ID, task, TASK_ID } from './work.js';

/** Example responses about automations, as one story: a merged pull request pauses a run, a manager approves, the task is closed. */

export const RUN_ID = '0197a1c0-5b1e-7c3a-9f00-1f2e3d4c5b6a';
export const AUTOMATION_ID = '0197a1b0-0000-7c3a-9f00-1f2e3d4c5b6a';
export const EXPIRES_AT = '2026-11-23T17:51:02.123Z';

export const MESSAGE = `Close “${task.title}” now that #41 is merged?`;

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
    action(0, 'add_comment', 'succeeded', { output: { comment_id: '019a9f00-0000-7000-8000-000000000008' } }),
    action(1, 'require_approval', 'running'),
    action(2, 'set_task_status', 'staged'),
  ],
  approval: { ...gate, expired: false, decision: null, decided_by: null, decided_at: null, reason: null },
  workflow_id: `run:${RUN_ID}`,
};

const approval = {
  ...gate,
  run_id: RUN_ID,
  automation_id: AUTOMATION_ID,
  automation_name: 'Deploy on merge',
  automation_version: 3,
  current_version: 3,
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  message: MESSAGE,
  approvers_missing: 0,
  can_decide: true,
  expired: false,
  creator_left: false,
  trigger_type: 'forge.pr_merged',
  staged_action_types: ['set_task_status'],
  staged_hash: 'sha256:9f2c1a7be04d5a6f8c3e1b2d4f60718293a4b5c6d7e8f90112233445566778899',
  reopened: 0,
  failed_before_gate: 0,
};

const actions = [
  {
    type: 'add_comment',
    name: 'Tell the task',
    params: { task_id: '{{event.task.task_id}}', content: 'Merged: {{event.title}} (#{{event.pr_number}})' },
    on_failure: 'continue',
  },
  {
    type: 'require_approval',
    name: 'Release manager',
    params: { role: 'manager', message: 'Close “{{event.task.title}}” now that #{{event.pr_number}} is merged?' },
    on_failure: 'continue',
  },
  {
    type: 'set_task_status',
    name: 'Close the task',
    params: { task_id: '{{event.task.task_id}}', status: 'done' },
    on_failure: 'continue',
  },
];
const automation = {
  automation_id: AUTOMATION_ID,
  name: 'Deploy on merge',
  description: 'When a merged pull request closes an issue, a manager decides whether its task is done.',
  trigger_type: 'forge.pr_merged',
  trigger_config: {},
  condition: 'has(event.task) && event.task != null',
  actions,
  is_active: true,
  schedule_cron: null,
  schedule_timezone: 'UTC',
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  version: 4,
  created_by: ADA,
  created_at: AT,
  updated_by: ADA,
  updated_at: AT,
  next_run_at: null,
  next_runs: [],
  last_run_at: AT,
  last_run_status: 'paused',
  run_count: 7,
  failed_count: 0,
  skipped_not_kept: 0,
  disabled_reason: null,
  is_protected: true,
};
const failure = { code: 'secret_missing', message: 'The secret RELEASE_CHANNEL does not exist' };
const FAILED_RUN = '0197a1c0-6b1e-7c3a-9f00-1f2e3d4c5b6a';
const REPLAY = '0197a1c0-7b1e-7c3a-9f00-1f2e3d4c5b6a';
const dispatched = { run_id: RUN_ID, automation_id: AUTOMATION_ID, status: 'queued' };

const hook = {
  automation_id: AUTOMATION_ID,
  hook_id: REPLAY,
  is_signed: false,
  created_by: ADA,
  created_at: AT,
  calls: 12,
  last_call_at: AT,
  last_refused_at: null,
  last_refusal: null,
};

/** By the id of the response schema. */
export const RUNS: Record<string, unknown> = {
  Run: { ...runSummary, event: { type: 'forge.pr_merged', repo: 'acme/rocket', pr_number: 41, task: { task_id: TASK_ID } } },
  RunSummary: runSummary,
  ApprovalList: { approvals: [approval], total: 1 },
  Notification: {
    notification_id: '0197a1c0-8000-7c3a-9f00-1f2e3d4c5b6a',
    kind: 'approval_requested',
    message: `${MESSAGE} Until 2026-11-23 17:51 UTC.`,
    team_id: TEAM_ID,
    run_id: RUN_ID,
    action_id: null,
    request_id: null,
    item_id: null,
    comment_id: null,
    triggered_by: null,
    more: 0,
    automation_name: 'Deploy on merge',
    gate: { state: 'approved', decided_by: MAX, decided_at: AT },
    created_at: AT,
    read_at: null,
  },
  Approved: {
    run_id: RUN_ID,
    status: 'running',
    decision: 'approved',
    decided_by: MAX,
    decided_at: AT,
    approvals_needed: 0,
    gate_index: 1,
  },
  Rejected: { run_id: RUN_ID, status: 'skipped', decision: 'rejected', decided_by: MAX, decided_at: AT },
  DeadLetterList: {
    entries: [
      {
        run_id: FAILED_RUN,
        automation_id: '0197a1b0-0001-7c3a-9f00-1f2e3d4c5b6a',
        automation_name: 'Announce the release',
        automation_version: 1,
        team_id: TEAM_ID,
        trigger_type: 'forge.release_published',
        failed_at: AT,
        error: failure,
        failed_actions: [{ index: 0, type: 'http_request', error: failure }],
        event_truncated: false,
        retryable: true,
        not_retryable_reason: null,
        retry_count: 0,
        last_retry_run_id: null,
      },
    ],
    total: 1,
    showing: 1,
  },
  RetriedRun: { success: true, run_id: REPLAY, retry_of: FAILED_RUN, automation_version: 1, status: 'queued' },
  Dispatched: dispatched,
  AcceptedHookCall: { accepted: true, delivery_id: RUN_ID },
  AutomationHook: hook,
  NewHookAddress: { ...hook, url: 'https://assent.example.com/api/hooks/svc_hook_shown-once-and-never-again', secret: null },
  RemovedAutomationHook: { success: true, automation_id: AUTOMATION_ID },
  Toggled: { automation_id: AUTOMATION_ID, is_active: false, cancelled_runs: 1 },
  CancelledRun: { success: true, run_id: RUN_ID, status: 'cancelled' },
  Automation: automation,
  SavedAutomation: { ...automation, warnings: [] },
  DeletedAutomation: { success: true, automation_id: AUTOMATION_ID, cancelled_runs: 1 },
  AutomationVersion: {
    version: 4,
    automation_id: AUTOMATION_ID,
    name: automation.name,
    trigger_type: automation.trigger_type,
    condition: automation.condition,
    actions,
    schedule_cron: null,
    schedule_timezone: 'UTC',
    changed_by: ADA,
    changed_at: AT,
    change_note: 'Ask a manager before the task is closed',
    restored_from: null,
    is_current: true,
  },
  RolledBack: { automation: { ...automation, version: 5 }, version: 5, restored_from: 3, missing_secrets: [] },
  TriggerList: {
    triggers: [
      {
        key: 'task.created',
        label: 'A task is created',
        available: true,
        sample_payload: { type: 'task.created', occurred_at: AT, team_id: TEAM_ID, task, changes: {} },
      },
    ],
  },
  ActionTypeList: {
    actions: [
      {
        type: 'add_comment',
        label: 'Comment on a task',
        category: 'core',
        params_schema: {
          type: 'object',
          properties: { content: { type: 'string' }, task_id: { type: 'string' } },
          required: ['content'],
        },
        integration: null,
        connected: true,
        available: true,
        missing_scopes: [],
      },
    ],
  },
  MarkedNotifications: { marked: 2 },
  NotificationSettings: { mail: 'daily' },
  SecretList: {
    team_id: TEAM_ID,
    secrets: ['RELEASE_CHANNEL'],
    details: [{ name: 'RELEASE_CHANNEL', allowed_hosts: ['example.com'] }],
  },
  SavedSecret: { saved: true, name: 'RELEASE_CHANNEL' },
  DeletedSecret: { deleted: true, name: 'RELEASE_CHANNEL' },
  Integration: {
    key: 'forge',
    label: 'Code host',
    connected: true,
    available: true,
    scopes_granted: ['repo'],
    account: 'octocat',
  },
  AuthorizeAddress: { authorize_url: 'https://github.com/login/oauth/authorize?client_id=abc&state=xyz' },
  IntegrationDisconnected: { success: true, key: 'forge' },
};
