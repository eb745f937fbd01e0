/** The API in several processes behind one address. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { Settings } from '../../api/platform/config.js';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { buildProject, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { type ApiProcess, buildApiEnv, killApiProcesses, startApiProcess } from './api-process.js';

let app: TestApp;
let team: TestTeam;
let project_id: string;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  ({ project_id } = await buildProject(app, team));
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});

const childrenOf = ({ child: { pid } }: ApiProcess): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const readProcesses = async (api: ApiProcess): Promise<{ status: number; processes: object }> => {
  const response = await fetch(`${api.opsUrl}/readyz`);
  return { status: response.status, processes: ((await response.json()) as { checks: { processes: object } }).checks.processes };
};

/** Creates a task on a connection of its own, so that any process may get it. Returns the id, or null without a response. */
async function create(api: ApiProcess): Promise<{ task_id: string; isAnswered: boolean }> {
  const task_id = uuidv7();
  const isAnswered = await fetch(`${api.url}/api/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${team.member.token}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ task_id, project_id, title: 'x' }),
  }).then(
    ({ status }) => status === 201,
    () => false,
  );
  return { task_id, isAnswered };
}

/** Requests that each process has answered, as the metrics count them. */
async function readCounts(api: ApiProcess): Promise<Map<string, number>> {
  const text = await (await fetch(`${api.opsUrl}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)) {
    const name = /process="(\w+)"/.exec(labels)?.[1] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + Number(value));
  }
  return counts;
}

it('kill -9 of one fails what it had under way and nothing else, and another takes its place', async () => {
  const api = await startApiProcess(app, { API_PROCESSES: '2' });
  const before = childrenOf(api);
  expect(before).toHaveLength(2);
  let stopped = false;
  const clients = Array.from({ length: 4 }, async () => {
    const made = [];
    while (!stopped) made.push(await create(api));
    return made;
  });
  await until(async () => (await readCounts(api)).size === 2);
  process.kill(before[0] as number, 'SIGKILL');
  await until(async () => childrenOf(api).length === 2 && !childrenOf(api).includes(before[0] as number));
  await until(async () => (await readProcesses(api)).status === 200);
  await until(async () => JSON.stringify((await readProcesses(api)).processes) === '{"ok":true,"alive":2,"of":2}');
  stopped = true;
  const made = (await Promise.all(clients)).flat();
  const unanswered = made.filter(({ isAnswered }) => !isAnswered);
  expect(unanswered.length).toBeLessThanOrEqual(clients.length);
  const answered = made.filter(({ isAnswered }) => isAnswered).map(({ task_id }) => task_id);
  expect(await app.services.db('tasks').whereIn('task_id', answered).pluck('task_id')).toHaveLength(answered.length);
  expect(await api.stop()).toBe(0);
  expect(api.log()).toContain('a process of the API ended; starting another');
});

it('metrics have one family of each name with the process as label, and those of the database once', async () => {
  const api = await startApiProcess(app, { API_PROCESSES: '2' });
  let sent = 0;
  await until(async () => {
    await create(api);
    sent += 1;
    return (await readCounts(api)).size === 2;
  });
  const counts = await readCounts(api);
  expect([...counts.keys()].toSorted()).toEqual(['1', '2']);
  expect([...counts.values()].reduce((a, b) => a + b)).toBe(sent);
  const text = await (await fetch(`${api.opsUrl}/metrics`)).text();
  const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(families).toHaveLength(new Set(families).size);
  expect([...text.matchAll(/^process_resident_memory_bytes\{process="(\w+)"\}/gm)].map(([, name]) => name)).toEqual(
    expect.arrayContaining(['1', '2', 'parent']),
  );
  expect(text.match(/^assent_database_gauges_success /gm)).toHaveLength(1);
  // Lines of both, each whole.
  await api.stop();
  const lines = api.log().trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg).filter((msg) => msg === 'request')).toHaveLength(sent);
});

it('one that is killed before it listens does not keep the service from its start', async () => {
  const settings = { API_PROCESSES: '2', METRICS_PORT: String(await anyFreePort()) };
  const child = spawn(process.execPath, [join(process.cwd(), 'dist/api/server.js')], {
    env: buildApiEnv(app, settings),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const started = once(child, 'message');
  const first = await until(() => Promise.resolve(childrenOf({ child } as ApiProcess)[0]));
  process.kill(first, 'SIGKILL');
  expect((await started)[0]).toMatchObject({ type: 'ready', port: expect.any(Number) });
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
});

it('one that hangs is killed, and another takes its place', async () => {
  const api = await startApiProcess(app, { API_PROCESSES: '2' });
  const [hung, other] = childrenOf(api) as [number, number];
  process.kill(hung, 'SIGSTOP');
  await until(async () => childrenOf(api).length === 2 && !childrenOf(api).includes(hung));
  expect(childrenOf(api)).toContain(other);
  await until(async () => JSON.stringify((await readProcesses(api)).processes) === '{"ok":true,"alive":2,"of":2}');
  expect((await create(api)).isAnswered).toBe(true);
  expect(await api.stop()).toBe(0);
  expect(api.log()).toContain('a process of the API does not answer its parent; killing it');
});

it('processes end with their parent', async () => {
  const api = await startApiProcess(app, { API_PROCESSES: '2' });
  const children = childrenOf(api);
  await api.stop('SIGKILL');
  await until(async () => !children.some(isAlive));
});

it.each([
  ['PORT', 'dist/api/server.js'],
  ['METRICS_PORT', 'dist/api/server.js'],
  ['WORKER_METRICS_PORT', 'dist/activities/worker.js'],
])('a port that is taken is named by its setting %s', async (name, file) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const free = { PORT: String(await anyFreePort()), METRICS_PORT: String(await anyFreePort()) };
  const settings = { ...free, [name]: String((taken.address() as AddressInfo).port) };
  const started = spawn(process.execPath, [join(process.cwd(), file)], { env: buildApiEnv(app, settings) });
  let printed = '';
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  expect(await once(started, 'close')).toEqual([1, null]);
  expect(printed).toContain(`Error: ${name} or BIND_ADDRESS is not usable: listen EADDRINUSE`);
  taken.close();
});

it('processes that cannot start end the service, with the reason', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const settings = { API_PROCESSES: '2', PORT: String(port), METRICS_PORT: String(await anyFreePort()) };
  const api = spawn(process.execPath, [join(process.cwd(), 'dist/api/server.js')], { env: buildApiEnv(app, settings) });
  let printed = '';
  for (const stream of [api.stdout, api.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  expect(await once(api, 'close')).toEqual([1, null]);
  expect(printed).toContain('EADDRINUSE');
  expect(printed).toContain('giving up');
  taken.close();
});

it.each([
  ['3', 3],
  ['1', 1],
])('API_PROCESSES=%s is a number of processes', (given, expected) => {
  expect(Settings.shape.API_PROCESSES.parse(given)).toBe(expected);
});

it('API_PROCESSES=auto is one for each core; anything else is refused', () => {
  expect(Settings.shape.API_PROCESSES.parse('auto')).toBeGreaterThan(0);
  for (const given of ['0', '-1', '1.5', 'all', '100', ''])
    expect(Settings.shape.API_PROCESSES.safeParse(given).error?.issues[0]?.message).toBe(
      'must be auto, or a number from 1 to 99',
    );
});
