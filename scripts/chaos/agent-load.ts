import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from './desk.js';

interface Message {
  message_id: string;
  role: string;
  content: string;
  action_id: string | null;
}

const SESSIONS = '/api/ai-workspace/sessions';
/** Time for an answer that the request did not wait for, ms. */
const ANSWER_MS = 60_000;

/** Creates a session in which a task is linked; undefined if the task has just been deleted. */
async function openSession(desk: Desk, taskId: string): Promise<string | undefined> {
  const { caller, world } = desk;
  const token = world.member;
  const headers = { 'idempotency-key': uuidv7() };
  const made = await caller.untilKnown({ method: 'POST', path: SESSIONS, token, headers, body: {} });
  if (made?.status !== 201) {
    if (made) surprise(desk, 'create a session', made);
    return undefined;
  }
  const { session_id } = made.body as { session_id: string };
  const body = { item_type: 'task', item_id: taskId };
  const linked = await caller.untilKnown({ method: 'POST', path: `${SESSIONS}/${session_id}/link`, token, body });
  if (linked?.status === 200) return session_id;
  if (linked && linked.status !== 404) surprise(desk, 'link', linked);
  return undefined;
}

/** Waits for the plan of a message whose request may have been lost; undefined if nothing of it was stored. */
async function awaitPlan({ caller, world }: Desk, sessionId: string, text: string): Promise<string | undefined> {
  for (const deadline = Date.now() + ANSWER_MS; Date.now() < deadline; await sleep(200)) {
    const read = await caller.untilKnown({ method: 'GET', path: `${SESSIONS}/${sessionId}`, token: world.member });
    const { messages = [] } = (read?.body ?? {}) as { messages?: Message[] };
    const asked = messages.findIndex(({ role, content }) => role === 'user' && content === text);
    if (asked < 0) return undefined;
    const answer = messages.slice(asked + 1).find(({ role }) => role === 'assistant');
    if (answer) return answer.action_id ?? undefined;
  }
  return undefined;
}

/** Asks the agent for a comment, confirms its plan, and deletes the session now and then. */
export async function workWithAgent(desk: Desk): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const token = world.member;
  const tasks = ledger.tasks.filter(({ trashed, project_id }) => !trashed && project_id === world.quiet);
  if (tasks.length === 0) return;
  const session_id = await openSession(desk, random.pick(tasks).task_id);
  if (session_id === undefined) return;
  const content = `agreed ${uuidv7()}`;
  const message = `comment on it: ${content}`;
  // Not repeated: what became of a lost request shows in the session.
  await caller.once({ method: 'POST', path: '/api/ai-workspace/chat', token, body: { session_id, message } });
  const action_id = await awaitPlan(desk, session_id, message);
  if (action_id === undefined) return;
  if (random.chance(0.2)) {
    await caller.untilKnown({ method: 'DELETE', path: `${SESSIONS}/${session_id}`, token });
    return;
  }
  const headers = { 'idempotency-key': uuidv7() };
  const body = { session_id, action_id };
  const confirmed = await caller.untilKnown({ method: 'POST', path: '/api/ai-workspace/agent/confirm', token, headers, body });
  if (confirmed?.status === 200) ledger.plans.push({ action_id, content });
  // The task may just have been deleted; a lost first answer makes the second one a conflict.
  else if (confirmed && confirmed.status !== 404 && confirmed.status !== 409) surprise(desk, 'confirm a plan', confirmed);
}
