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

export const AGENT: Record<string, unknown> = {
  ChatAnswer: {
    response: 'I propose 1 status change. Nothing changes until you confirm.',
    requires_confirmation: true,
    action_plan: {
      action_id: ACTION_ID,
      summary: '1 status change',
      actions: [action],
      plan_hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      expires_at: '2026-11-21T17:51:02.123Z',
    },
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
