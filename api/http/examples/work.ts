import { describeRecord } from '../../work/tasks/columns.js';
import { ADA, AT, MAX, TEAM_ID } from './people.js';

/** Example responses about projects, tasks, comments, the trash and the code host, with the project of the demo data. */

export const PROJECT_ID = '019a9f00-0000-7000-8000-000000000005';
export const TASK_ID = '019a9f00-0000-7000-8000-000000000006';
const SUBTASK_ID = '019a9f00-0000-7000-8000-000000000007';
const COMMENT_ID = '019a9f00-0000-7000-8000-000000000008';
const UPDATE_ID = '019a9f00-0000-7000-8000-000000000015';
const STAGE_ID = '019a9f00-0000-7000-8000-000000000014';
const BINDING_ID = '019a9f00-0000-7000-8000-000000000009';
const AUDIT_ID = '019a9f00-0000-7000-8000-000000000010';
const EXPIRES_AT = '2026-12-20T17:51:02.123Z';

const project = {
  project_id: PROJECT_ID,
  name: 'Apollo',
  team_id: TEAM_ID,
  description: 'The guidance computer',
  status: 'active',
  start_date: '2026-11-01',
  end_date: null,
  lead_id: MAX,
  health: 'at_risk',
  health_at: AT,
  created_by: ADA,
  created_at: AT,
};

/** A column that the sample sets to nothing else has the value of a new task. */
const newTask = Object.fromEntries(describeRecord().map(({ name, initial }) => [name, initial ?? null]));

export const task = {
  ...newTask,
  task_id: TASK_ID,
  title: 'Login page answers 500 when the session cookie is garbage',
  project_id: PROJECT_ID,
  team_id: TEAM_ID,
  assigned_to: MAX,
  status: 'in_review',
  priority: 'urgent',
  due_date: '2026-11-21',
  tags: ['bug', 'security'],
  position: 2,
  created_by: MAX,
  created_at: AT,
  updated_at: AT,
  forge_links: [{ repo: 'acme/rocket', number: 12, kind: 'issue', url: 'https://github.com/acme/rocket/issues/12' }],
  version: 3,
};
const liveEvent = {
  id: 'evt_AUvmmPtpJFyAAAAAAAAAMFgBmp8AAAB3AIAAAAAAAAAQ',
  type: 'task.updated',
  entity_type: 'task',
  entity_id: TASK_ID,
  parent_id: null,
  team_id: TEAM_ID,
  project_id: PROJECT_ID,
  user_id: MAX,
  actor_type: 'user',
  correlation_id: AUDIT_ID,
  timestamp: AT,
};
const subtask = {
  ...task,
  task_id: SUBTASK_ID,
  title: 'Reject malformed cookies',
  parent_task_id: TASK_ID,
  forge_links: [],
  version: 1,
};

const comment = {
  comment_id: COMMENT_ID,
  task_id: TASK_ID,
  parent_comment_id: null,
  content: 'Merged: Harden the session cookie (#41)',
  author_id: ADA,
  mentions: [],
  created_at: AT,
  updated_at: AT,
  edited: false,
  deleted: false,
  replies: [],
};
const trashed = { success: true, verified: true, soft_deleted: true, deleted_at: AT, retention_days: 30 };

const forgeAddress = {
  binding_id: BINDING_ID,
  url: `https://assent.example.com/api/forge/webhooks/${BINDING_ID}`,
  secret_id: '0197a1c0-9b1e-7c3a-9f00-1f2e3d4c5b6a',
  secret_prefix: 'whsec_Mjk4...',
  previous_until: null,
  created_by: ADA,
  created_at: AT,
  connected_at: AT,
  last_delivery_at: AT,
  last_event: 'pull_request',
  last_refused_at: null,
};

/** By the id of the response schema. */
export const WORK: Record<string, unknown> = {
  Project: project,
  ProjectWrite: {
    action_id: AUDIT_ID,
    status: 'verified',
    verified: true,
    message: 'Project created',
    affected_entities: [{ entity_type: 'project', entity_id: PROJECT_ID, action: 'create' }],
    data: project,
    rollback_available: true,
    timestamp: AT,
  },
  TrashedProject: {
    message: 'Project moved to trash',
    ...trashed,
    restore_url: `/api/trash/project/${PROJECT_ID}/restore`,
    cascade_count: 16,
  },
  TaskTree: { ...task, subtasks: [{ ...subtask, subtasks: [] }] },
  Task: task,
  CreatedTask: { message: 'Task created', task_id: TASK_ID, data: { ...task, status: 'todo', version: 1 } },
  CreatedTasks: {
    results: [
      { index: 0, success: true, task_id: TASK_ID, data: { ...task, status: 'todo', version: 1 }, error: null },
      {
        index: 1,
        success: false,
        task_id: null,
        data: null,
        error: {
          error_code: 'RESOURCE_NOT_FOUND',
          message: 'Parent task not found',
          detail: 'It does not exist, or it was deleted. What is in the trash can be restored.',
        },
      },
    ],
    created: 1,
    replayed: 0,
    failed: 1,
    total: 2,
  },
  Message: { message: 'Task updated' },
  Stage: { stage_id: STAGE_ID, team_id: TEAM_ID, name: 'In QA', status: 'in_review', position: 1 },
  DeletedStage: { success: true, stage_id: STAGE_ID, tasks: 3 },
  TrashedTask: { message: 'Task moved to trash', ...trashed, restore_url: `/api/trash/task/${TASK_ID}/restore` },
  Comment: comment,
  TaskFollowers: {
    follows: true,
    followers: [
      { user_id: ADA, display_name: 'Ada Marsh' },
      { user_id: MAX, display_name: 'Max Olsen' },
    ],
  },
  ProjectUpdate: {
    update_id: UPDATE_ID,
    project_id: PROJECT_ID,
    health: 'at_risk',
    content: 'The antenna comes two weeks late.',
    author_id: MAX,
    created_at: AT,
    updated_at: AT,
    edited: false,
  },
  DeletedProjectUpdate: { success: true, update_id: UPDATE_ID },
  DeletedComment: { success: true, comment_id: COMMENT_ID },
  TrashEntry: {
    entity_type: 'task',
    entity_id: TASK_ID,
    title: task.title,
    team_id: TEAM_ID,
    project_id: PROJECT_ID,
    deleted_at: AT,
    deleted_by: MAX,
    expires_at: EXPIRES_AT,
    retention_days: 30,
    restore_url: `/api/trash/task/${TASK_ID}/restore`,
    cascade_id: AUDIT_ID,
    cascade_count: 1,
  },
  EmptiedTrash: { purged: 4 },
  Restored: {
    message: 'Task restored',
    success: true,
    entity_type: 'task',
    entity_id: TASK_ID,
    restored_at: AT,
    restored_count: 2,
  },
  PurgedItem: { success: true, purged: 2 },
  Activity: {
    activity_id: AUDIT_ID,
    timestamp: AT,
    user_id: MAX,
    user_name: 'Max Olsen',
    actor_type: 'user',
    action: 'update',
    entity_type: 'task',
    entity_id: TASK_ID,
    entity_title: task.title,
    team_id: TEAM_ID,
    project_id: PROJECT_ID,
    summary: 'changed status',
    cause: null,
    rejected_run: null,
    changes: { status: { from: 'in_progress', to: 'in_review' } },
  },
  LiveEvents: {
    events: [liveEvent],
    cursor: liveEvent.id,
    has_more: false,
  },
  LiveEvent: liveEvent,
  ForgeDeliveryAccepted: { received: true, event: 'forge.pr_merged', duplicate: false },
  ForgeWebhookStatus: {
    signing_secret_configured: true,
    received_total: 128,
    last_received_at: AT,
    last_signature_failure_at: null,
    signature_failures_total: 0,
    duplicates_total: 3,
    ignored_total: 12,
    last_event: 'pull_request',
  },
  ForgeDelivery: {
    delivery_id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    event: 'pull_request',
    normalized: 'forge.pr_merged',
    repo: 'acme/rocket',
    received_at: AT,
    outcome: 'applied',
    reason: null,
    armed_runs: ['0197a1c0-5b1e-7c3a-9f00-1f2e3d4c5b6a'],
  },
  RepositoryBinding: {
    binding_id: BINDING_ID,
    repo: 'acme/rocket',
    team_id: TEAM_ID,
    project_id: PROJECT_ID,
    sync_issues: true,
    created_by: ADA,
    created_at: AT,
  },
  ForgeAddress: forgeAddress,
  ForgeAddressWithSecret: { ...forgeAddress, secret: 'whsec_…' },
  RemovedForgeAddress: { success: true, binding_id: BINDING_ID },
  UnboundRepository: { success: true, binding_id: BINDING_ID },
  ForgeLink: {
    task_id: TASK_ID,
    repo: 'acme/rocket',
    number: 12,
    kind: 'issue',
    url: 'https://github.com/acme/rocket/issues/12',
  },
};
