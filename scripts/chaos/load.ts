import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { sign } from '../../api/integrations/forge/deliveries/signature.js';
import type { Caller } from './caller.js';
import { type Desk, surprise } from './desk.js';
import { workWithAgent } from './loads/agent-load.js';
import { failChecks, workFromOutside, workOnPlans } from './loads/outside-load.js';
import { exportTasks } from './loads/bulk-load.js';
import { importFiles } from './loads/import-load.js';
import { workOnCycles } from './loads/cycle-load.js';
import { workOnFields, workOnViews } from './loads/fields-load.js';
import { callAsked, callPassed, decideCalls } from './loads/gateway-load.js';
import { workOnPerformed } from './loads/performed-load.js';
import { workOnRequests } from './loads/request-load.js';
import { workOnJobs } from './loads/runner-load.js';
import { workOnGraph } from './loads/graph-load.js';
import { type AckedTask, emptyLedger, type Ledger } from './ledger.js';
import { seededRandom } from './random.js';
import { commentsFor, FAILING, type World } from './world.js';

export interface Load {
  ledger: Ledger;
  /** Responses that no rule explains. */
  surprises: string[];
  /** Finishes all requests, repeating until each outcome is known. */
  stop: () => Promise<void>;
}

/** Pause between two requests of one user, ms. */
const PAUSE = { min: 40, max: 300 };
const CREATORS = 3;
const IMPORTERS = 4;
/** Programs that ask for a change. */
const ASKERS = 4;
/** Agents that call tools which people are asked about. */
const AGENTS = 8;
/** Users who talk to the agent. */
const TALKERS = 4;
/** Gates decided concurrently. */
const DECISIONS = 8;
/** Time after the writers have stopped, ms, in which gates reached late are still decided. */
const LAST_DECISIONS_MS = 15_000;

/** Creates a task with its own id; the result is the same for repetitions, concurrent ones too. */
async function create(desk: Desk, project_id: string): Promise<AckedTask | undefined> {
  const { caller, world, ledger, random } = desk;
  const task_id = uuidv7();
  const title = `task ${task_id}${random.chance(0.05) ? ` ${FAILING}` : ''}`;
  const description = random.chance(0.5) ? `made by seed, ${'x'.repeat(random.between(0, 500))}` : null;
  const request = { method: 'POST', path: '/api/tasks', token: world.member, body: { task_id, title, project_id, description } };
  const twice = random.chance(0.1);
  const [answer] = await Promise.all([caller.untilKnown(request), ...(twice ? [caller.untilKnown(request)] : [])]);
  if (!answer) return undefined;
  if (answer.status !== 201 && answer.status !== 200) {
    surprise(desk, 'create', answer);
    return undefined;
  }
  const comments = project_id === world.watched ? commentsFor(title) : [];
  const task = { task_id, project_id, title, description, version: 1, trashed: false, comments };
  ledger.tasks.push(task);
  return task;
}

/** Changes the title at the last seen version. A repetition may get 409; then the row itself is read. */
async function update(desk: Desk, task: AckedTask): Promise<void> {
  const { caller, world, ledger } = desk;
  const title = `changed ${uuidv7()}`;
  const path = `/api/tasks/${task.task_id}`;
  const { version } = task;
  const answer = await caller.untilKnown({ method: 'PATCH', path, token: world.member, body: { title, version } });
  if (answer?.status === 200) {
    const given = Number(answer.etag?.replaceAll('"', ''));
    Object.assign(task, { title, version: given });
    ledger.updates.push({ task_id: task.task_id, version: given, title });
    return;
  }
  if (answer && answer.status !== 409) surprise(desk, 'update', answer);
  const read = await caller.untilKnown({ method: 'GET', path, token: world.member });
  const found = read?.body as { title: string; version: number } | undefined;
  if (read?.status !== 200 || !found) return;
  if (found.title !== title && found.title !== task.title)
    desk.surprises.push(`${path} has a title that nobody gave it: ${found.title}`);
  Object.assign(task, { title: found.title, version: found.version });
}

async function trash(desk: Desk, task: AckedTask): Promise<void> {
  const answer = await desk.caller.untilKnown({ method: 'DELETE', path: `/api/tasks/${task.task_id}`, token: desk.world.member });
  if (!answer) return;
  if (answer.status === 200 || (answer.status === 404 && answer.attempts > 1))
    Object.assign(task, { trashed: true, version: task.version + 1 });
  else surprise(desk, 'delete', answer);
}

async function workOnTasks(desk: Desk): Promise<void> {
  const { random, world } = desk;
  const watched = random.chance(0.5);
  const task = await create(desk, watched ? world.watched : world.quiet);
  if (!task) return;
  for (let n = random.between(0, watched ? 1 : 4); n > 0; n -= 1) await update(desk, task);
  if (!watched && random.chance(0.2)) await trash(desk, task);
}

/** Sends a signed delivery of an opened issue; sometimes again after success, as code hosts do. */
async function deliver(desk: Desk): Promise<void> {
  const { caller, ledger, random, secret, world } = desk;
  const delivery_id = uuidv7();
  const title = `issue ${delivery_id}`;
  const issue = { number: random.between(1, 2_000_000_000), title, html_url: `https://forge.test/${delivery_id}`, labels: [] };
  const raw = JSON.stringify({ action: 'opened', issue, repository: { full_name: world.repo }, sender: { login: 'octocat' } });
  const headers = {
    'x-forge-event': 'issues',
    'x-forge-delivery': delivery_id,
    'x-hub-signature-256': sign(Buffer.from(raw), secret),
  };
  const request = { method: 'POST', path: '/api/forge/webhooks', raw, headers };
  const answer = await caller.untilKnown(request);
  if (!answer) return;
  if (answer.status !== 200) return surprise(desk, 'delivery', answer);
  ledger.deliveries.push({ delivery_id, title });
  if (random.chance(0.3)) await caller.untilKnown(request);
}

/** Decides one gate; reads the run to settle a conflict with a repetition or a rival. */
async function decide(desk: Desk, run: { run_id: string; gate_index: number }, token: string): Promise<void> {
  const { caller, ledger, random } = desk;
  const { run_id, gate_index } = run;
  const verb = random.chance(0.75) ? 'approve' : 'reject';
  const answer = await caller.untilKnown({
    method: 'POST',
    path: `/api/automations/runs/${run_id}/${verb}`,
    token,
    body: { gate_index },
  });
  if (!answer) return;
  if (answer.status === 200) {
    ledger.decisions.push({ run_id, gate_index, decision: verb === 'approve' ? 'approved' : 'rejected' });
  } else if (answer.status !== 409) surprise(desk, verb, answer);
}

/** Decides some of the pending approvals; sometimes two managers decide the same one concurrently. */
async function workOnGates(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const listed = await caller.untilKnown({ method: 'GET', path: '/api/automations/approvals?limit=200', token: world.manager });
  const { approvals = [] } = (listed?.body ?? {}) as {
    approvals?: { run_id: string; gate_index: number; automation_name: string }[];
  };
  const waiting = approvals.filter(({ automation_name }) => automation_name === 'Ask');
  // Not always the oldest, so that some wait through many kills.
  const from = random.between(0, Math.max(0, waiting.length - DECISIONS));
  await Promise.all(
    waiting.slice(from, from + DECISIONS).flatMap((run) => {
      const managers = random.chance(0.2) ? [world.manager, world.admin] : [world.manager];
      return managers.map((token) => decide(desk, run, token));
    }),
  );
}

/** Trashes a project while tasks are created in it: none of them may stay live. */
async function workOnProjects(desk: Desk): Promise<void> {
  const { caller, ledger, random, world } = desk;
  const token = world.member;
  const made = await caller.untilKnown({
    method: 'POST',
    path: '/api/projects',
    token,
    body: { name: 'Doomed', team_id: world.teamId },
  });
  if (made?.status !== 201) return;
  const { project_id } = (made.body as { data: { project_id: string } }).data;
  const make = async (): Promise<void> => {
    await sleep(random.between(0, 30));
    const task_id = uuidv7();
    const answer = await caller.untilKnown({
      method: 'POST',
      path: '/api/tasks',
      token,
      body: { task_id, title: 'doomed', project_id },
    });
    if (answer?.status === 404 && answer.attempts === 1) ledger.refused.push({ task_id });
    else if (answer && ![200, 201, 404, 409].includes(answer.status)) surprise(desk, 'create in a doomed project', answer);
  };
  const trash = async (): Promise<void> => {
    await sleep(random.between(0, 30));
    const answer = await caller.untilKnown({ method: 'DELETE', path: `/api/projects/${project_id}`, token });
    if (answer && answer.status !== 200 && answer.status !== 404) surprise(desk, 'delete project', answer);
  };
  await Promise.all([make(), make(), trash(), make(), make()]);
}

async function workOnFailures(desk: Desk): Promise<void> {
  const { caller, ledger, world } = desk;
  const path = '/api/automations/dead-letter';
  const listed = await caller.untilKnown({
    method: 'GET',
    path: `${path}?team_id=${world.teamId}&limit=20`,
    token: world.manager,
  });
  const { entries = [] } = (listed?.body ?? {}) as {
    entries?: { run_id: string; retry_count: number; automation_name: string }[];
  };
  const [entry] = entries.filter(({ retry_count, automation_name }) => retry_count < 2 && automation_name === 'Fail');
  if (!entry) return;
  const answer = await caller.untilKnown({
    method: 'POST',
    path: `${path}/${entry.run_id}/retry`,
    token: world.manager,
    body: {},
  });
  if (answer?.status === 200) ledger.retries.push({ run_id: (answer.body as { run_id: string }).run_id, retry_of: entry.run_id });
  else if (answer && answer.status !== 409) surprise(desk, 'retry', answer);
}

/** Starts all users until `stop`. The same seed yields the same decisions. `slower`: so many times the pauses; `ledger`: is continued. */
export function startLoad(caller: Caller, world: World, secret: string, seed: number, slower = 1, ledger = emptyLedger()): Load {
  const surprises: string[] = [];
  let people = 0;
  const employ = (acts: ((desk: Desk) => Promise<void>)[]): (() => Promise<unknown>) => {
    let going = true;
    const work = Promise.all(
      acts.map(async (act) => {
        people += 1;
        const random = seededRandom(seed * 1_000 + people);
        while (going) {
          await act({ caller, world, ledger, surprises, random, secret, goesOn: () => going });
          await sleep(random.between(PAUSE.min, PAUSE.max) * slower);
        }
      }),
    );
    return () => {
      going = false;
      return work;
    };
  };
  const stopMaking = employ([
    ...Array.from({ length: CREATORS }, () => workOnTasks),
    deliver,
    workOnProjects,
    workOnGraph,
    workOnCycles,
    workOnFields,
    workOnViews,
    workOnJobs,
    exportTasks,
    ...Array.from({ length: IMPORTERS }, () => importFiles),
    ...Array.from({ length: TALKERS }, () => workWithAgent),
    workFromOutside,
    failChecks,
    ...Array.from({ length: ASKERS }, () => workOnRequests),
    workOnPerformed,
    ...Array.from({ length: AGENTS }, () => callAsked),
    callPassed,
    callPassed,
  ]);
  const stopDeciding = employ([workOnGates, workOnFailures, workOnPlans, decideCalls]);
  return {
    ledger,
    surprises,
    async stop() {
      await stopMaking();
      await sleep(LAST_DECISIONS_MS);
      await stopDeciding();
    },
  };
}
