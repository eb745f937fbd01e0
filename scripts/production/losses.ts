import { setTimeout as sleep } from 'node:timers/promises';
import { createCall, type User } from './caller.js';
import { addComposeFile } from './compose-file.js';
import { describeFailures, type LoadResult, readTitles, startLoad } from './load.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import { getUser } from './smoke.js';
import type { Stack } from './stack.js';

const LOAD_PER_SECOND = 20;
/** Runs that are started while a part is away. */
const RUNS = 5;

interface Loss {
  what: string;
  /** What is killed: services, and how many containers of each; all without a number. */
  parts: readonly { service: string; count?: number }[];
  /** Cuts the network in place of a kill: nothing tells the others. */
  isCut?: boolean;
  /** Time until the part is started again, s; by default it stays away until everything was looked at. */
  awaySeconds?: number;
  /** Requests fail for so long at most, and runs begin within so long after the loss or the return, s. */
  goals: { requests: number; runs: number };
}

const machine = [
  { service: 'api', count: 1 },
  { service: 'worker', count: 1 },
];
/** PostgreSQL has a check of its own (failover.ts). */
const LOSSES: readonly Loss[] = [
  { what: 'one API of two', parts: [{ service: 'api', count: 1 }], goals: { requests: 5, runs: 5 } },
  { what: 'one worker of two', parts: [{ service: 'worker', count: 1 }], goals: { requests: 0, runs: 30 } },
  { what: 'a machine with API and worker', parts: machine, goals: { requests: 5, runs: 30 } },
  { what: 'the network of a machine', parts: machine, isCut: true, goals: { requests: 10, runs: 30 } },
  { what: 'one Temporal of two', parts: [{ service: 'temporal', count: 1 }], goals: { requests: 0, runs: 30 } },
  { what: 'Temporal', parts: [{ service: 'temporal' }], awaySeconds: 30, goals: { requests: 0, runs: 5 } },
  { what: 'the mail server', parts: [{ service: 'mailpit' }], awaySeconds: 10, goals: { requests: 0, runs: 5 } },
  { what: 'HAProxy', parts: [{ service: 'balancer' }], awaySeconds: 1, goals: { requests: 10, runs: 5 } },
];

/** Creates tasks that each start a run with a gate, as soon as requests succeed. Returns their ids. */
async function startRuns({ call, projectId }: User): Promise<string[]> {
  const tasks: string[] = [];
  for (let n = 0; n < RUNS; n += 1) {
    const [task] = await until('a task', 60, () =>
      call<{ task_id: string }>('POST', '/api/tasks', { title: `gated by a loss ${n}`, project_id: projectId }),
    );
    tasks.push(task.task_id);
  }
  return tasks;
}

/** Returns the seconds until the runs of all tasks ask at their gates. */
async function waitForGates(stack: Stack, tasks: readonly string[]): Promise<number> {
  const ids = tasks.map((id) => `'${id}'`).join(',');
  const waiting = `select count(*) from automation_runs where status = 'paused' and event->'task'->>'task_id' in (${ids})`;
  const [, seconds] = await until(
    'gates of the started runs',
    180,
    async () => (await stack.sql(waiting))[0] === `${tasks.length}`,
  );
  return seconds;
}

/** Kills the containers of a part, or cuts them off. Returns what brings them back. */
async function lose(stack: Stack, { parts, isCut }: Loss): Promise<() => Promise<void>> {
  const { docker, env } = stack.engine;
  const run = (...args: string[]): Promise<string> => shell([...docker, ...args], { env });
  const ids = (
    await Promise.all(parts.map(async ({ service, count }) => (await stack.containers(service)).slice(0, count)))
  ).flat();
  if (!isCut) {
    await run('kill', ...ids);
    return async () => void (await stack.compose(['up', '--detach', '--wait', '--no-build', '--no-recreate']));
  }
  const networks = '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}';
  for (const id of ids) {
    const names = (await run('inspect', '--format', networks, id)).trim().split(' ');
    await Promise.all(
      names.map((name) => run('network', 'disconnect', '--force', name, id).catch(() => run('network', 'disconnect', name, id))),
    );
  }
  // New ones, as on a machine in its place: these two would come back without their names.
  return async () => {
    await run('rm', '--force', ...ids).catch(() => undefined);
    await stack.compose(['up', '--detach', '--wait', '--no-build', '--no-recreate']);
  };
}

/** An email that was asked for while the mail server was away arrives once it is back. Returns the seconds. */
async function waitForMail(stack: Stack, address: string): Promise<number> {
  const mailbox = createCall(stack.mailUrl);
  const [, seconds] = await until('the invitation by email', 180, async () => {
    const { messages } = await mailbox<{ messages: { To: { Address: string }[] }[] }>('GET', '/api/v1/messages?limit=50');
    return messages.some(({ To }) => To.some(({ Address }) => Address === address));
  });
  return seconds;
}

async function checkLoss(stack: Stack, report: Report, user: User, loss: Loss): Promise<void> {
  const load = startLoad(stack.url, user, LOAD_PER_SECOND);
  await until('a request', 30, () => Promise.resolve(load.sent() > LOAD_PER_SECOND * 2));
  const since = Date.now();
  const restore = await lose(stack, loss);
  try {
    const runs = await watchRuns(stack, report, user, { loss, since, restore });
    judge(report, loss, { since, runs, result: await load.stop(), titles: await readTitles(stack) });
  } finally {
    await load.stop();
    await restore();
  }
}

/** Asks for work while the part is away, and brings it back if it is to return. Returns the seconds until the runs go on. */
async function watchRuns(
  stack: Stack,
  report: Report,
  user: User,
  { loss, since, restore }: { loss: Loss; since: number; restore: () => Promise<void> },
): Promise<number> {
  const { awaySeconds, parts } = loss;
  const address = `invited-${since}@example.com`;
  const isMail = parts.some(({ service }) => service === 'mailpit');
  if (isMail) await user.call('POST', `/api/teams/${user.teamId}/members`, { email: address, role: 'member' });
  let tasks: string[] = [];
  if (awaySeconds !== undefined) {
    if (awaySeconds > 5) tasks = await startRuns(user);
    await sleep(Math.max(0, since + awaySeconds * 1_000 - Date.now()));
    await restore();
  }
  if (tasks.length === 0) tasks = await startRuns(user);
  const runs = await waitForGates(stack, tasks);
  if (isMail)
    report.say(`an email asked for meanwhile arrived ${(await waitForMail(stack, address)).toFixed(1)} s after the runs`);
  return runs;
}

interface Found {
  since: number;
  runs: number;
  result: LoadResult;
  titles: ReadonlySet<string>;
}

function judge(report: Report, { what, isCut, awaySeconds, goals }: Loss, { since, runs, result, titles }: Found): void {
  const failing = Math.max(0, (result.lastFailure - since) / 1_000 - (awaySeconds ?? 0));
  const lost = result.created.filter((title) => !titles.has(title)).length;
  report.add(
    `${what} ${isCut ? 'cut' : 'killed'}${awaySeconds === undefined ? '' : `, back after ${awaySeconds} s`}`,
    `failed ${describeFailures(result)} of ${result.sent}, the last after ${failing.toFixed(1)} s; ` +
      `runs go on after ${runs.toFixed(1)} s; lost ${lost} of ${result.created.length}`,
    `failures for ${goals.requests} s, runs within ${goals.runs} s, none lost`,
    failing <= goals.requests && runs <= goals.runs && lost === 0 && result.created.length > 0,
  );
}

/** Loses one part after the other under load, with two of each: what fails, how long, and that nothing acknowledged is lost. */
export async function checkLosses(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await addComposeFile(stack, 'compose.temporal.yml', { WORKER_REPLICAS: '2' });
  for (const loss of LOSSES) await checkLoss(stack, report, user, loss);
}
