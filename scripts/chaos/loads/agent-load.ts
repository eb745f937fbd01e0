import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';

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

/** Confirms a plan and returns the answer; a task that has just been deleted, or a lost first answer, is no surprise. */
export async function confirm(desk: Desk, token: string, plan: { session_id: string; action_id: string }): Promise<boolean> {
  const headers = { 'idempotency-key': uuidv7() };
  const { session_id, action_id } = plan;
  const body = { session_id, action_id };
  const path = '/api/ai-workspace/agent/confirm';
  const confirmed = await desk.caller.untilKnown({ method: 'POST', path, token, headers, body });
  if (confirmed && ![200, 404, 409].includes(confirmed.status)) surprise(desk, 'confirm a plan', confirmed);
  return confirmed?.status === 200;
}

/** Takes an applied plan back. Returns null if it is not known whether that happened. */
async function undo(desk: Desk, action_id: string, session_id: string): Promise<boolean | null> {
  const token = desk.world.member;
  const path = `/api/ai-workspace/agent/plans/${action_id}/undo`;
  const staged = await desk.caller.untilKnown({ method: 'POST', path, token });
  if (!staged) return null;
  const { action_id: made, undone_by } = (staged.body ?? {}) as { action_id?: string; undone_by?: string };
  // The first answer was lost: the second one names the plan.
  const inverse = staged.status === 200 || staged.status === 201 ? made : undone_by;
  if (inverse !== undefined) return (await confirm(desk, token, { session_id, action_id: inverse })) || null;
  if (staged.status !== 404 && staged.status !== 409) surprise(desk, 'undo', staged);
  return false;
}

/** Asks the agent for a comment, confirms its plan, takes it back or deletes the session now and then. */
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
  if (!(await confirm(desk, token, { session_id, action_id }))) return;
  const undone = random.chance(0.3) ? await undo(desk, action_id, session_id) : false;
  if (undone === false) ledger.plans.push({ action_id, content });
  else if (undone) ledger.undone.push({ action_id, content });
}
