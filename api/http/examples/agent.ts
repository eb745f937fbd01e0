import { AT } from './people.js';
import { TASK_ID } from './work.js';

/** Example responses of the AI workspace. */

const SESSION_ID = '019a9f00-0000-7000-8000-000000000040';
const ACTION_ID = '019a9f00-0000-7000-8000-000000000041';

const summary = {
  session_id: SESSION_ID,
  title: 'Login errors',
  kind: 'chat',
  created_at: AT,
  updated_at: AT,
  message_count: 2,
  pending_action_id: ACTION_ID,
};
const link = { item_type: 'task', item_id: TASK_ID, title: 'Login page answers 500 when the session cookie is garbage' };

const HASH = `sha256:${'9f86d081884c7d659a2feaa0c55ad015'.repeat(2)}`;
const action = {
  index: 0,
  tool: 'task.set_status',
  entity_type: 'task',
  entity_id: TASK_ID,
  title: link.title,
  params: { status: 'done' },
  before: { status: 'in_review' },
  after: { status: 'done' },
  risk: 'low',
  reversible: true,
  expected_version: 3,
  needs: [],
};
const plan = { action_id: ACTION_ID, summary: '1 status change', actions: [action], plan_hash: HASH, expires_at: AT };
const result = { index: 0, status: 'applied', entity_type: 'task', entity_id: TASK_ID };
const decided = {
  success: true,
  action_id: ACTION_ID,
  session_id: SESSION_ID,
  status: 'applied',
  message: 'Applied 1 of 1 changes',
  results: [result],
  decided_by: '019a9f00-0000-7000-8000-000000000011',
  decided_at: AT,
  correlation_id: '0197a1c0-77aa-7c3a-9f00-1f2e3d4c5b6a',
};
const waiting = {
  ...plan,
  session_id: SESSION_ID,
  team_id: null,
  project_id: null,
  trigger: null,
  risk: 'low',
  stale: [],
  created_at: AT,
};

export const AGENT: Record<string, unknown> = {
  DecidedPlan: decided,
  ConfirmedAction: { success: true, action_id: ACTION_ID, message: decided.message, details: decided },
  Plan: {
    ...waiting,
    source: 'chat',
    status: 'staged',
    closed_reason: null,
    decided_by: null,
    decided_at: null,
    comment: null,
    undo_of: null,
    undone_by: null,
    results: null,
  },
  PendingPlans: {
    pending: [
      {
        ...waiting,
        source: 'mcp',
        undo_of: null,
        session_title: 'laptop',
        note: 'Both duplicates are fixed.',
        can_confirm: true,
      },
    ],
    total: 1,
  },
  EditedPlan: { ...plan, session_id: SESSION_ID, edited_from: '019a9f00-0000-7000-8000-000000000045', omitted: [] },
  UndonePlan: { ...plan, summary: 'Undo: 1 status change', session_id: SESSION_ID, undo_of: ACTION_ID, omitted: [] },
  ChatAnswer: {
    response: 'I propose 1 status change. Nothing changes until you confirm.',
    requires_confirmation: true,
    action_plan: plan,
  },
  StoppedAgentSession: { success: true, session_id: SESSION_ID, stopped: 1 },
  NewAgentSession: { session_id: SESSION_ID, title: 'Login errors', created_at: AT },
  AgentSessionSummary: summary,
  AgentSession: {
    ...summary,
    messages: [
      {
        message_id: '019a9f00-0000-7000-8000-000000000042',
        role: 'user',
        content: 'close this and comment on it: fixed in v2',
        action_id: null,
        created_at: AT,
      },
      {
        message_id: '019a9f00-0000-7000-8000-000000000043',
        role: 'assistant',
        content: 'I would change 2 things. Nothing happens until you confirm.',
        action_id: ACTION_ID,
        created_at: AT,
      },
    ],
    linked_items: [{ ...link, linked_at: AT }],
  },
  AgentLink: { session_id: SESSION_ID, ...link, linked: true, linked_at: AT },
  RemovedAgentLink: { success: true, session_id: SESSION_ID, item_type: 'task', item_id: TASK_ID },
  DeletedAgentSession: { success: true, session_id: SESSION_ID },
};
