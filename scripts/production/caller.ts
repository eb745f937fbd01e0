import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from './stack.js';
import { until } from './shell.js';

/** Calls the API; returns the body. @throws Error with the status and the body unless it is 2xx */
export type Call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<T>;

/** What an installation is used with. */
export interface User {
  call: Call;
  token: string;
  email: string;
  /** Token of an agent: it reads and proposes, over MCP only. */
  agentToken: string;
  teamId: string;
  projectId: string;
}

export const createCall =
  (base: string, token?: string): Call =>
  async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    const parsed = (text === '' ? {} : JSON.parse(text)) as { data?: T };
    // Some routes of the contract wrap what they created, and Prometheus what it found.
    return parsed.data ?? (parsed as T);
  };

/** The code of the newest email to the user. */
async function readCode(stack: Stack, email: string): Promise<string | undefined> {
  const mailbox = createCall(stack.mailUrl);
  const { messages } = await mailbox<{ messages: { ID: string; To: { Address: string }[] }[] }>(
    'GET',
    '/api/v1/messages?limit=20',
  );
  for (const { ID } of messages.filter(({ To }) => To.some(({ Address }) => Address === email))) {
    const { Text } = await mailbox<{ Text: string }>('GET', `/api/v1/message/${ID}`);
    const [code] = /\b\d{6}\b/.exec(Text) ?? [];
    if (code) return code;
  }
  return undefined;
}

/**
 * Creates a user by the operator's command, signs in with the emailed code, and creates a team, a project and tokens that outlive the
 * replicas of the API.
 */
export async function signIn(stack: Stack): Promise<User> {
  // Another one at each attempt: the first attempt may have ended between its steps.
  const email = `ops-${Date.now()}@example.com`;
  const printed = await stack.compose([
    'run',
    '--rm',
    '-T',
    'tools',
    'dist/scripts/admin.js',
    'create-user',
    '--email',
    email,
    '--name',
    'Ops',
    '--admin',
  ]);
  const password = /password (\S+)/.exec(printed)?.[1];
  if (!password) throw new Error(`No password was printed: ${printed}`);
  const stranger = createCall(stack.url);
  await stranger('POST', '/api/auth/login', { email, password });
  const [code] = await until('the emailed code', 30, () => readCode(stack, email));
  const login = await stranger<{ token: string }>('POST', '/api/auth/login-otp/verify', {
    email,
    password,
    code,
    trust_device: true,
  });
  const session = createCall(stack.url, login.token);
  const made = await session<{ token: string }>('POST', '/api/auth/tokens', { name: 'production', scopes: ['admin:*'] });
  const agent = await session<{ token: string }>('POST', '/api/auth/tokens', {
    name: 'Agent',
    scopes: ['graph:read', 'tasks:read', 'projects:read', 'ai:chat'],
    mcp_only: true,
  });
  const call = createCall(stack.url, made.token);
  const team = await call<{ team_id: string }>('POST', '/api/teams', { name: 'Ops' });
  const project = await call<{ project_id: string }>('POST', '/api/projects', { name: 'Rocket', team_id: team.team_id });
  return { call, token: made.token, email, agentToken: agent.token, teamId: team.team_id, projectId: project.project_id };
}

/** An automation that asks before it comments on a task and closes it. Returns its id. */
export async function createGated({ call, teamId }: User): Promise<string> {
  const automation = await call<{ automation_id: string }>('POST', '/api/automations', {
    name: 'Close with approval',
    team_id: teamId,
    trigger_type: 'task.created',
    condition: "event.task.title.startsWith('gated')",
    actions: [
      { type: 'require_approval', params: { role: 'member', message: 'Close the task?', expires_in_seconds: 86_400 } },
      { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: 'approved' } },
      { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } },
    ],
  });
  return automation.automation_id;
}

interface Gate {
  run_id: string;
  gate_index: number;
}

const listGates = async ({ call }: User): Promise<Gate[]> =>
  (await call<{ approvals: Gate[] }>('GET', '/api/automations/approvals?limit=200')).approvals;

/** Creates tasks that each start a gated run, and waits until all gates ask. Returns the ids of tasks, and the gates that were not there before. */
export async function openGates(user: User, count: number): Promise<{ tasks: string[]; runs: Gate[] }> {
  const before = new Set((await listGates(user)).map(({ run_id }) => run_id));
  const tasks: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const task = await user.call<{ task_id: string }>('POST', '/api/tasks', { title: `gated ${n}`, project_id: user.projectId });
    tasks.push(task.task_id);
  }
  const [runs] = await until(`${count} open gates`, 60, async () => {
    const gates = (await listGates(user)).filter(({ run_id }) => !before.has(run_id));
    return gates.length >= count && gates;
  });
  return { tasks, runs };
}

/** Approves gates, waits until every task is done, and returns the number of comments on each: one, if each acted once. */
export async function approveAll(
  { call }: User,
  { tasks, runs }: { tasks: string[]; runs: Gate[] },
  stack: Stack,
): Promise<string[]> {
  for (const { run_id, gate_index } of runs) await call('POST', `/api/automations/runs/${run_id}/approve`, { gate_index });
  const ids = tasks.map((id) => `'${id}'`).join(',');
  await until('every approved run done', 120, async () => {
    const [open] = await stack.sql(`select count(*) from tasks where task_id in (${ids}) and status <> 'done'`);
    return open === '0';
  });
  await sleep(1_000);
  return stack.sql(`select count(*) from comments where task_id in (${ids}) group by task_id`);
}

/** Returns whether each of so many gates acted exactly once, from the numbers of comments on their tasks. */
export const haveActedOnce = (comments: readonly string[], gates: number): boolean =>
  comments.length === gates && comments.every((count) => count === '1');
