import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { sealEntries } from '../api/audit/seal-entries.js';
import { verifyChain } from '../api/audit/verify-chain.js';
import { sign } from '../api/integrations/forge/deliveries/signature.js';
import { openDatabase } from '../db/connection.js';
import { runWorkflowId } from '../workflows/contracts/run-contract.js';
import { playAgent } from './demo/agent.js';
import { playCommand } from './demo/command.js';
import { playNight } from './demo/night.js';
import { playOutsideAgent } from './demo/outside-agent.js';
import { playReleaseTrain } from './demo/release-train.js';
import { playRunner } from './demo/runner.js';
import { playAudit } from './demo/audit.js';
import { playWebhooks } from './demo/webhooks.js';
import { base, call, config, logIn, paint, showWorkflows, printStep, until } from './demo/helpers.js';
import { DEMO_PROJECT } from './demo-data/projects.js';
import { DEMO_REPOSITORY } from './demo-data/seed-demo.js';
import { deliveries, withFields } from './fixtures/forge-payloads.js';

/**
 * `npm run demo`: the product's main use case against the running service, printed as a timeline. Exits non-zero when a step fails.
 */

/** Sends a signed delivery like a code host. */
async function deliver(event: string, payload: unknown): Promise<{ body: unknown }> {
  const body = JSON.stringify(payload);
  const headers = {
    'x-forge-event': event,
    'x-forge-delivery': uuidv7(),
    'x-hub-signature-256': sign(Buffer.from(body), config.FORGE_WEBHOOK_SECRET ?? ''),
  };
  return call('POST', '/api/forge/webhooks', { body, headers });
}

/** The demo's issue was opened the day before. */
const AGE_OF_ISSUE_MS = 26 * 3_600_000;

/** The clocks of this process and of the database may differ. */
const CLOCK_SKEW_MS = 60_000;

const repository = { 'repository.full_name': DEMO_REPOSITORY, 'repository.html_url': `https://github.com/${DEMO_REPOSITORY}` };

/** Returns the project to which the demo's repository is bound. */
async function boundProject(token: string): Promise<string> {
  const projects = (await call('GET', '/api/projects?limit=2000', { token })).body as { project_id: string; name: string }[];
  const project = projects.find(({ name }) => name === DEMO_PROJECT);
  if (!project) throw new Error(`There is no project ${DEMO_PROJECT}: begin anew with npm run reset`);
  return project.project_id;
}

async function openIssue(number: number, ada: string): Promise<{ task_id: string; title: string }> {
  const began = encodeURIComponent(new Date(Date.now() - CLOCK_SKEW_MS).toISOString());
  const title = `Demo ${new Date().toISOString().slice(11, 19)}: the countdown skips T-3`;
  const created = new Date(Date.now() - AGE_OF_ISSUE_MS).toISOString();
  const fields = { 'issue.number': number, 'issue.title': title, 'issue.created_at': created };
  const issue = withFields(deliveries['issues.opened'].body, { ...repository, ...fields });
  const answer = await deliver('issues', issue);
  printStep(`A signed delivery arrives: issue #${number} was opened in ${DEMO_REPOSITORY}`, `200 ${JSON.stringify(answer.body)}`);
  // The account may have more tasks than one list holds: only those of the bound project, since the demo began.
  const path = `/api/tasks?project_id=${await boundProject(ada)}&updated_since=${began}`;
  const task = await until('issue sync', async () => {
    const tasks = (await call('GET', path, { token: ada })).body as { task_id: string; title: string }[];
    return tasks.find((candidate) => candidate.title === title);
  });
  printStep('Issue sync made a task of it', `${task.task_id}  “${task.title}”`);
  return task;
}

async function mergePullRequest(number: number, issue: number): Promise<void> {
  const merged = withFields(deliveries['pull_request.merged.closing'].body, {
    ...repository,
    number,
    'pull_request.number': number,
    'pull_request.title': 'Count T-3 again',
    'pull_request.body': `Closes #${issue}`,
    'pull_request.merged_at': new Date().toISOString(),
  });
  const answer = await deliver('pull_request', merged);
  printStep(
    `A signed delivery arrives: pull request #${number} was merged, “Closes #${issue}”`,
    `200 ${JSON.stringify(answer.body)}`,
  );
}

/** Ada writes a note, relates it to the task, and a search finds both at once. */
async function searchForBoth(token: string, task: { task_id: string; title: string }): Promise<void> {
  const note = { title: `Why ${task.title.slice(0, 13)} skipped T-3`, content: 'An off-by-one in the **countdown**.' };
  const { team_id } = (await call('GET', `/api/tasks/${encodeURIComponent(task.task_id)}`, { token })).body;
  const { note_id } = (await call('POST', '/api/notes', { token, body: { ...note, team_id } })).body;
  const body = { source_id: task.task_id, target_id: note_id, relation_type: 'caused_by' };
  await call('POST', '/api/work-items/relations', { token, body });
  const query = `"${task.title.slice(5, 13)}"`;
  const found = (await call('POST', '/api/search', { token, body: { query } })).body;
  const types = (found.results as { item_type: string }[]).map(({ item_type }) => item_type).toSorted();
  if (found.total !== 2) throw new Error(`the search for ${query} found ${JSON.stringify(found)}`);
  printStep(
    `Ada writes a note and relates it to the task; a search for ${query} finds both`,
    `${found.total} results: ${types.join(', ')}`,
  );
  const { sample_size, by_repo } = (await call('GET', '/api/work-items/cycle-time?days=30', { token })).body;
  printStep('From issue to merge, by the code host’s clock', `${sample_size} issues, median ${by_repo[0].median_hours} hours`);
}

interface Approval {
  run_id: string;
  gate_index: number;
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
  printStep(
    `It started “${approval.automation_name}”; the run waits for a ${approval.required_role}`,
    `${actions}; until ${approval.expires_at}`,
  );
  return approval;
}

async function play(): Promise<void> {
  const since = new Date();
  const [ada, max, uma] = await Promise.all(['ada', 'max', 'uma'].map((name) => logIn(`${name}@demo.test`)));
  if (!ada || !max || !uma) throw new Error('nobody signed in');
  printStep('Ada (admin) and Max (manager) signed in');
  const issue = 1_000 + (createHash('sha256').update(uuidv7()).digest().readUInt32BE(0) % 1_000_000);
  const task = await openIssue(issue, ada);
  await mergePullRequest(issue + 1, issue);
  const { run_id, gate_index } = await awaitGate(max, task.task_id);
  const decision = (await call('POST', `/api/automations/runs/${run_id}/approve`, { token: max, body: { gate_index } })).body;
  printStep('Max approves', JSON.stringify(decision));
  const run = await until('the tail', async () => {
    const current = (await call('GET', `/api/automations/runs/${run_id}`, { token: max })).body;
    return ['succeeded', 'failed', 'skipped', 'cancelled'].includes(current.status as string) && current;
  });
  const closed = (await call('GET', `/api/tasks/${encodeURIComponent(task.task_id)}`, { token: ada })).body;
  if (run.status !== 'succeeded' || closed.status !== 'done')
    throw new Error(`the run ended ${run.status}, the task is ${closed.status}`);
  printStep(`The tail ran as the automation’s creator: the run ${run.status}, the task is ${closed.status}`);
  await searchForBoth(ada, task);
  const talked = await playAgent(max, task);
  const outside = await playOutsideAgent(max, task);
  const night = await playNight(ada, max);
  const released = await playReleaseTrain(ada, max);
  await playWebhooks(ada, task);
  const ran = await playRunner(ada, max);
  const deployed = await playCommand(uma, max);
  await playAudit(ada, since);
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-demo' });
  try {
    await sealEntries(db);
    const report = await verifyChain({ db, config });
    if (report.breaks.length > 0) throw new Error(`the audit chain is broken: ${JSON.stringify(report.breaks)}`);
    printStep(`The audit chain verifies: ${report.entries} entries in ${report.chains} chains, every change above among them`);
  } finally {
    await db.destroy();
  }
  const runs = Object.entries({ 'the pull request’s run': run_id, ...released }).map(([what, id]) => [what, runWorkflowId(id)]);
  showWorkflows({ ...Object.fromEntries(runs), ...talked, ...outside, ...night, ...ran, ...deployed });
}

await play().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`\n          ${paint(31, '✗')} ${message}`);
  if (/fetch failed/.test(message)) console.error(`            Nothing answers at ${base}: npm start first.`);
  process.exitCode = 1;
});
