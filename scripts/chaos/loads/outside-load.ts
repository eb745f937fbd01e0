import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { sign } from '../../../api/integrations/forge/deliveries/signature.js';
import { confirm } from './agent-load.js';
import { type Desk, surprise } from '../desk.js';
import { buildToolCall, type ToolResult } from './mcp-request.js';

const AGAIN_MS = 100;
const GIVE_UP_MS = 120_000;

/** Calls a tool over MCP until its outcome is known; undefined when the time is up first. A tool tells a failure of ours in its result. */
async function callTool({ caller, world }: Desk, name: string, args: object): Promise<ToolResult | undefined> {
  const request = buildToolCall('/api/mcp', world.agent, name, args);
  for (const deadline = Date.now() + GIVE_UP_MS; Date.now() < deadline; await sleep(AGAIN_MS)) {
    const answer = await caller.untilKnown(request);
    if (!answer) return undefined;
    const { result } = (answer.body ?? {}) as { result?: ToolResult };
    if (!result) return { isError: true, structuredContent: { status: answer.status, answer: answer.body } };
    if (!result.isError || Number(result.structuredContent?.['status'] ?? 500) < 500) return result;
  }
  return undefined;
}

/** Proposes a comment over MCP under a key, sometimes twice at once; its owner confirms or discards it. */
export async function workFromOutside(desk: Desk): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const tasks = ledger.tasks.filter(({ trashed, project_id }) => !trashed && project_id === world.quiet);
  if (tasks.length === 0) return;
  const { task_id } = random.pick(tasks);
  const content = `proposed ${uuidv7()}`;
  const args = { actions: [{ tool: 'task.comment', entity_id: task_id, params: { content } }], key: content };
  const twice = random.chance(0.2);
  const [first, second] = await Promise.all([
    callTool(desk, 'propose_plan', args),
    twice ? callTool(desk, 'propose_plan', args) : undefined,
  ]);
  if (!first) return;
  if (first.isError) {
    const status = Number(first.structuredContent?.['status']);
    // The task may just have been deleted.
    if (status !== 404 && status !== 409) surprise(desk, 'propose_plan', { status, body: first.structuredContent });
    return;
  }
  const action_id = String(first.structuredContent?.['action_id']);
  if (second && !second.isError && second.structuredContent?.['action_id'] !== action_id)
    surprise(desk, 'one key, two plans', { status: 200, body: second.structuredContent });
  ledger.proposals.push({ action_id, key: content });
  const read = await caller.untilKnown({
    method: 'GET',
    path: `/api/ai-workspace/agent/plans/${action_id}`,
    token: world.member,
  });
  const { session_id } = (read?.body ?? {}) as { session_id?: string };
  if (read?.status !== 200 || session_id === undefined) {
    if (read) surprise(desk, 'read a proposed plan', read);
    return;
  }
  if (random.chance(0.2)) await callTool(desk, 'discard_plan', { action_id });
  else if (await confirm(desk, world.member, { session_id, action_id })) ledger.plans.push({ action_id, content });
}

/** Branches whose runs fail: a newer plan of one replaces the plan before. */
const BRANCHES = 5;

/** Delivers a failed CI run, sometimes again as its second attempt. */
export async function failChecks(desk: Desk): Promise<void> {
  const { caller, ledger, random, secret, world } = desk;
  const run_id = random.between(1, 2_000_000_000);
  const branch = `branch-${random.between(1, BRANCHES)}`;
  const deliver = async (attempt: number) => {
    const workflow_run = {
      id: run_id,
      run_attempt: attempt,
      name: 'CI',
      conclusion: 'failure',
      event: 'push',
      head_branch: branch,
      head_sha: run_id.toString(16).padStart(40, '0'),
      html_url: null,
      pull_requests: [],
    };
    const repository = { full_name: world.repo };
    const raw = JSON.stringify({ action: 'completed', workflow_run, repository, sender: { login: 'octocat' } });
    const headers = {
      'x-forge-event': 'workflow_run',
      'x-forge-delivery': uuidv7(),
      'x-hub-signature-256': sign(Buffer.from(raw), secret),
    };
    return caller.untilKnown({ method: 'POST', path: '/api/forge/webhooks', raw, headers });
  };
  const answer = await deliver(1);
  if (!answer) return;
  if (answer.status !== 200) return surprise(desk, 'delivery of a failed run', answer);
  ledger.failures.push({ run_id });
  if (random.chance(0.4)) await deliver(2);
  // Fewer of them than of everything else: each one creates a task if a user confirms it.
  await sleep(random.between(500, 2_000));
}

/** Decides plans of failed runs, sometimes two managers at once. */
export async function workOnPlans(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  await sleep(random.between(500, 2_000));
  const listed = await caller.untilKnown({ method: 'GET', path: '/api/ai-workspace/agent/pending', token: world.manager });
  const { pending = [] } = (listed?.body ?? {}) as { pending?: { session_id: string; action_id: string; source: string }[] };
  const plans = pending.filter(({ source }) => source === 'ci_failure_triage');
  if (plans.length === 0) return;
  const plan = random.pick(plans);
  const managers = random.chance(0.3) ? [world.manager, world.admin] : [world.manager];
  await Promise.all(managers.map((token) => confirm(desk, token, plan)));
}
