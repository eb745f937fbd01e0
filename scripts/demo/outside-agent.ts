import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { connectAgent } from './connect-agent.js';
import { base, call, printStep } from './helpers.js';

/** An agent from outside finds a task over MCP and proposes; it can do nothing else, and Max confirms. Returns the plan's workflow. */
export async function playOutsideAgent(max: string, task: { task_id: string; title: string }): Promise<Record<string, string>> {
  const scopes = ['graph:read', 'tasks:read', 'projects:read', 'ai:chat'];
  const made = await call('POST', '/api/auth/tokens', { token: max, body: { name: 'Demo agent', scopes, mcp_only: true } });
  const { token, token_id } = made.body as { token: string; token_id: string };
  const { client, use } = await connectAgent(base, token);
  const { tools } = await client.listTools();
  printStep(
    `An outside agent connects over MCP (${client.getNegotiatedProtocolVersion()}) with a token of Max for that alone`,
    tools.map(({ name }) => name).join(', '),
  );
  const refused = await call('PATCH', `/api/tasks/${encodeURIComponent(task.task_id)}`, {
    token,
    body: { title: 'Mine now' },
    refusal: 403,
  });
  printStep('It tries to change the task itself', `403 ${refused.body.message}`);

  const query = `"${task.title.slice(5, 13)}" countdown`;
  const { results } = (await use('search', { query })) as { results: { item_id: string; title: string; item_type: string }[] };
  const found = results.find(({ item_type }) => item_type === 'task');
  if (!found) throw new Error(`the agent's search for ${query} found ${JSON.stringify(results)}`);
  const plan = await use('propose_plan', {
    actions: [{ tool: 'task.comment', entity_id: found.item_id, params: { content: 'The fix is in release 1.4.' } }],
    note: 'The release notes mention this task.',
    key: `demo-${found.item_id}`,
  });
  printStep(
    `It finds “${found.title}” and proposes: ${String(plan['summary'])}`,
    `Max decides at ${String(plan['confirm_url'])}`,
  );

  const action_id = String(plan['action_id']);
  const { session_id } = (await call('GET', `/api/ai-workspace/agent/plans/${action_id}`, { token: max })).body;
  const body = { session_id, action_id, plan_hash: plan['plan_hash'] };
  const { message } = (await call('POST', '/api/ai-workspace/agent/confirm', { token: max, body })).body;
  const { status } = await use('get_plan', { action_id });
  if (status !== 'applied') throw new Error(`the agent's plan is ${String(status)}`);
  printStep('Max confirms it; the agent reads what became of it', `${message}; get_plan: ${String(status)}`);
  await client.close();
  await call('DELETE', `/api/auth/tokens/${token_id}`, { token: max });
  return { 'the outside agent’s plan': planWorkflowId(action_id) };
}
