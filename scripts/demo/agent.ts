import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { turnWorkflowId } from '../../workflows/contracts/turn-contract.js';
import { call, printStep } from './helpers.js';

interface Plan {
  action_id: string;
  plan_hash: string;
  summary: string;
  actions: { tool: string; title: string; before: object | null; after: object | null; risk: string }[];
}

const inWords = ({ actions }: Plan): string =>
  actions
    .map(
      ({ tool, title, before, after, risk }) =>
        `${tool} “${title}” ${JSON.stringify(before)} → ${JSON.stringify(after)} (${risk})`,
    )
    .join('\n            ');

/** Max talks to the agent about a task: a plan is staged, confirmed and undone. Returns the workflows behind it. */
export async function playAgent(max: string, task: { task_id: string; title: string }): Promise<Record<string, string>> {
  const body = { title: 'About the countdown' };
  const { session_id } = (await call('POST', '/api/ai-workspace/sessions', { token: max, body })).body;
  const link = { item_type: 'task', item_id: task.task_id };
  await call('POST', `/api/ai-workspace/sessions/${session_id}/link`, { token: max, body: link });
  const status = async (): Promise<string> =>
    (await call('GET', `/api/tasks/${encodeURIComponent(task.task_id)}`, { token: max })).body.status;
  const before = await status();

  const message = 'reopen it and set priority of it to urgent; comment on it: seen again; please look';
  const chat = (await call('POST', '/api/ai-workspace/chat', { token: max, body: { session_id, message } })).body;
  const plan = chat.action_plan as Plan | undefined;
  if (!plan || (await status()) !== before) throw new Error(`the agent answered ${JSON.stringify(chat)}`);
  printStep(`Max links the task and tells the agent: “${message}”`, `it proposes ${plan.summary}; nothing has changed:`);
  printStep('The plan, as it would be carried out', inWords(plan));

  const decide = async ({ action_id, plan_hash }: Plan) =>
    (await call('POST', '/api/ai-workspace/agent/confirm', { token: max, body: { session_id, action_id, plan_hash } })).body;
  const confirmed = await decide(plan);
  if ((await status()) !== 'todo') throw new Error(`the plan is ${confirmed.status}, the task is ${await status()}`);
  printStep('Max confirms what he read, by its hash', `${confirmed.message}; the task is ${await status()}`);

  const undo = (await call('POST', `/api/ai-workspace/agent/plans/${plan.action_id}/undo`, { token: max })).body as Plan;
  printStep('He takes it back: the inverse is a plan that waits for its own yes', undo.summary);
  await decide(undo);
  if ((await status()) !== before) throw new Error(`the task is ${await status()} after the undo`);
  printStep('Confirmed too', `the task is ${await status()} again`);

  const { messages } = (await call('GET', `/api/ai-workspace/sessions/${session_id}`, { token: max })).body;
  return {
    'the turn that answered Max': turnWorkflowId(messages[0].message_id as string),
    'the plan that waited for him': planWorkflowId(plan.action_id),
  };
}
