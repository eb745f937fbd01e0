import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { sealEntries } from '../api/audit/seal-entries.js';
import { verifyChain } from '../api/audit/verify-chain.js';
import { loadConfig } from '../api/core/config.js';
import { sign } from '../api/forge/signature.js';
import { openDatabase } from '../db/connection.js';
import { runWorkflowId } from '../workflows/contract.js';
import { DEMO_REPOSITORY } from './demo-data/seed-demo.js';
import { deliveries, withFields } from './fixtures/forge-payloads.js';

/** `npm run demo`: the product's main job against the running service, printed as a timeline (N5). Ends non-zero when a step fails. */

const config = loadConfig();
const base = process.env['BASE_URL'] ?? `http://127.0.0.1:${config.PORT}`;
const began = performance.now();
const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

function tell(what: string, detail = ''): void {
  const at = `${((performance.now() - began) / 1000).toFixed(2)} s`.padStart(8);
  console.log(`${paint(2, at)}  ${paint(32, '●')} ${what}${detail ? `\n            ${paint(2, detail)}` : ''}`);
}

interface Answer {
  // biome-ignore lint: a script reads what the contract promises
  body: any; // oxlint-disable-line typescript/no-explicit-any
  status: number;
}

async function call(
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { token, body, headers = {} } = options;
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = { status: response.status, body: (await response.json()) as unknown };
  if (response.status >= 400) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer.body)}`);
  return answer as Answer;
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`${what}: it did not happen within 20 s (is the worker running? see .data/logs)`);
}

const logIn = async (email: string): Promise<string> =>
  (await call('POST', '/api/auth/login', { body: { email, password: 'demo-password' } })).body.token as string;

/** Sends a delivery as the forge does: real bytes, signed. */
async function deliver(event: string, payload: unknown): Promise<Answer> {
  const body = JSON.stringify(payload);
  const headers = {
    'x-forge-event': event,
    'x-forge-delivery': uuidv7(),
    'x-hub-signature-256': sign(Buffer.from(body), config.FORGE_WEBHOOK_SECRET ?? ''),
  };
  return call('POST', '/api/forge/webhooks', { body, headers });
}

const repository = { 'repository.full_name': DEMO_REPOSITORY, 'repository.html_url': `https://github.com/${DEMO_REPOSITORY}` };

async function openIssue(number: number, ada: string): Promise<{ task_id: string; title: string }> {
  const title = `Demo ${new Date().toISOString().slice(11, 19)}: the countdown skips T-3`;
  const issue = withFields(deliveries['issues.opened'].body, { ...repository, 'issue.number': number, 'issue.title': title });
  const answer = await deliver('issues', issue);
  tell(`A signed delivery arrives: issue #${number} was opened in ${DEMO_REPOSITORY}`, `200 ${JSON.stringify(answer.body)}`);
  const task = await until('issue sync', async () => {
    const tasks = (await call('GET', '/api/tasks', { token: ada })).body as { task_id: string; title: string }[];
    return tasks.find((candidate) => candidate.title === title);
  });
  tell('Issue sync made a task of it', `${task.task_id}  “${task.title}”`);
  return task;
}

async function mergePullRequest(number: number, issue: number): Promise<void> {
  const merged = withFields(deliveries['pull_request.merged.closing'].body, {
    ...repository,
    number,
    'pull_request.number': number,
    'pull_request.title': 'Count T-3 again',
    'pull_request.body': `Closes #${issue}`,
  });
  const answer = await deliver('pull_request', merged);
  tell(`A signed delivery arrives: pull request #${number} was merged, “Closes #${issue}”`, `200 ${JSON.stringify(answer.body)}`);
}

interface Approval {
  run_id: string;
  automation_name: string;
  required_role: string;
  expires_at: string;
}

async function awaitGate(max: string, taskId: string): Promise<Approval> {
  const approval = await until('the gate', async () => {
    const { approvals } = (await call('GET', '/api/automations/approvals?limit=200', { token: max })).body as {
      approvals: Approval[];
    };
    for (const candidate of approvals) {
      const run = (await call('GET', `/api/automations/runs/${candidate.run_id}`, { token: max })).body;
      if (run.event?.task?.task_id === taskId) return candidate;
    }
    return undefined;
  });
  const run = (await call('GET', `/api/automations/runs/${approval.run_id}`, { token: max })).body;
  const actions = (run.actions as { type: string; status: string }[]).map(({ type, status }) => `${type} ${status}`).join(' → ');
  tell(
    `It armed “${approval.automation_name}”; the run waits for a ${approval.required_role}`,
    `${actions}; until ${approval.expires_at}`,
  );
  return approval;
}

async function play(): Promise<void> {
  const [ada, max] = await Promise.all([logIn('ada@demo.test'), logIn('max@demo.test')]);
  tell('Ada (admin) and Max (manager) signed in');
  const issue = 1_000 + (createHash('sha256').update(uuidv7()).digest().readUInt32BE(0) % 1_000_000);
  const task = await openIssue(issue, ada);
  await mergePullRequest(issue + 1, issue);
  const { run_id } = await awaitGate(max, task.task_id);
  const decision = (await call('POST', `/api/automations/runs/${run_id}/approve`, { token: max })).body;
  tell('Max approves', JSON.stringify(decision));
  const run = await until('the tail', async () => {
    const current = (await call('GET', `/api/automations/runs/${run_id}`, { token: max })).body;
    return ['succeeded', 'failed', 'skipped', 'cancelled'].includes(current.status as string) && current;
  });
  const closed = (await call('GET', `/api/tasks/${encodeURIComponent(task.task_id)}`, { token: ada })).body;
  if (run.status !== 'succeeded' || closed.status !== 'done')
    throw new Error(`the run ended ${run.status}, the task is ${closed.status}`);
  tell(`The tail ran as the automation’s creator: the run ${run.status}, the task is ${closed.status}`);
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-demo' });
  try {
    await sealEntries(db);
    const report = await verifyChain({ db, config });
    if (report.broken) throw new Error(`the audit chain is broken: ${JSON.stringify(report.broken)}`);
    tell(`The audit chain verifies: ${report.entries} entries in ${report.chains} chains, every change above among them`);
  } finally {
    await db.destroy();
  }
  const ui = config.TEMPORAL_UI_URL;
  if (ui) {
    const link = `${ui}/namespaces/${config.TEMPORAL_NAMESPACE}/workflows/${encodeURIComponent(runWorkflowId(run_id))}`;
    console.log(`\n          The run in the Temporal UI\n          ${paint(36, link)}\n`);
  }
}

await play().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`\n          ${paint(31, '✗')} ${message}`);
  if (/fetch failed/.test(message)) console.error(`            Nothing answers at ${base}: npm start first.`);
  process.exitCode = 1;
});
