import { Agent, request } from 'node:http';
import { residentOf } from './process-table.js';
import type { Goal, Section } from './report.js';
import { withSides } from './requests-section.js';
import { addProject, type World } from './seed.js';
import type { ApiService, Servers } from './servers.js';
import { median, quantile } from './statistics.js';

/** One request after the other on one connection: what a big answer costs alone. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface Answered {
  status: number;
  ms: number;
  bytes: number;
  etag: string | undefined;
}

/** Sends one request and reads the whole answer. @throws Error when the connection breaks */
function send(port: number, path: string, headers: Record<string, string>, body?: string): Promise<Answered> {
  const started = performance.now();
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, ms: performance.now() - started, bytes, etag: answer.headers.etag }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const bearer = ({ token }: World) => ({ Authorization: `Bearer ${token}` });
const listPath = (project: string) => `/api/tasks?project_id=${project}`;

/** As `send`, for an answer that must have this status. */
async function expect(status: number, answer: Promise<Answered>): Promise<Answered> {
  const answered = await answer;
  if (answered.status !== status) throw new Error(`Answered ${answered.status} instead of ${status}`);
  return answered;
}

/** Longest that the event loop of the API stood still since the last call, ms. */
async function longestBlock({ metricsPort }: ApiService): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
}

const analyse = ({ db }: Servers) => db.raw('vacuum (analyze) tasks, projects');

/** What one answer does to the API: the event loop's longest stand-still and the growth of its memory at the worst moment. */
async function burdenOf(api: ApiService, ask: () => Promise<unknown>): Promise<{ blocked: number; grown: number }> {
  const before = residentOf(api.pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentOf(api.pid))), 2);
  await longestBlock(api);
  await ask();
  const blocked = await longestBlock(api);
  clearInterval(watch);
  return { blocked, grown: (most - before) / 2 ** 20 };
}

/** A list of so many tasks, one request at a time, by turns with the floor. */
export function listSection(count: 1_000 | 10_000): Section {
  return (servers, world, { rounds }) =>
    withSides(servers, async ({ product, floor }) => {
      const path = listPath(await addProject(servers.db, world, count));
      await analyse(servers);
      const ask = (port: number) => expect(200, send(port, path, bearer(world)));
      for (let i = 0; i < 5; i += 1) for (const { port } of [product, floor]) await ask(port);
      const times = { product: [] as number[], floor: [] as number[] };
      let bytes = 0;
      for (let i = 0; i < rounds * 10; i += 1) {
        const answered = await ask(product.port);
        times.product.push(answered.ms);
        bytes = answered.bytes;
        times.floor.push((await ask(floor.port)).ms);
      }
      const [mine, bare] = [median(times.product), median(times.floor)];
      const burden = await burdenOf(product, () => ask(product.port));
      const p50: Goal = {
        what: 'times the floor’s p50',
        value: mine / bare,
        goal: count === 1_000 ? 1.2 : 1,
        better: 'less',
        unit: '',
      };
      const heavy: Goal[] = [
        { what: 'event loop blocked at most', value: burden.blocked, goal: 70, better: 'less', unit: ' ms' },
        { what: 'memory of the API grown by', value: burden.grown, goal: 100, better: 'less', unit: ' MB' },
      ];
      return [
        {
          name: `GET /api/tasks of a project of ${count.toLocaleString('en')}, one connection`,
          goals: count === 1_000 ? [p50] : [p50, ...heavy],
          notes: [
            `product p50 ${mine.toFixed(1)} ms  p99 ${quantile(times.product, 0.99).toFixed(1)} ms  (${(bytes / 1e6).toFixed(2)} MB)`,
            `floor   p50 ${bare.toFixed(1)} ms  p99 ${quantile(times.floor, 0.99).toFixed(1)} ms`,
          ],
        },
      ];
    });
}

/** The list of 10,000 asked for again with its tag. */
export const unchangedSection: Section = (servers, world, { rounds }) =>
  withSides(servers, async ({ product }) => {
    const path = listPath(await addProject(servers.db, world, 10_000));
    await analyse(servers);
    const { etag = '' } = await expect(200, send(product.port, path, bearer(world)));
    const headers = { ...bearer(world), 'If-None-Match': etag };
    const times: number[] = [];
    for (let i = 0; i < rounds * 50; i += 1) times.push((await expect(304, send(product.port, path, headers))).ms);
    const p50: Goal = { what: 'p50', value: median(times), goal: 5, better: 'less', unit: ' ms' };
    return [
      { name: 'GET /api/tasks of 10,000 unchanged, 304', goals: [p50], notes: [`p99 ${quantile(times, 0.99).toFixed(1)} ms`] },
    ];
  });

const BULK = 500;

/** Tasks made 500 at a time. */
export const bulkSection: Section = (servers, world, { seconds, rounds }) =>
  withSides(servers, async ({ product }) => {
    const project = await addProject(servers.db, world, 0);
    const item = { title: 'Check the pressure of tank 2', project_id: project, priority: 'high', tags: ['hardware', 'pad-b'] };
    const body = JSON.stringify(Array.from({ length: BULK }, () => item));
    const headers = { ...bearer(world), 'Content-Type': 'application/json' };
    const create = () => expect(200, send(product.port, '/api/tasks/bulk', headers, body));
    await create();
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now();
      let made = 0;
      for (; performance.now() - started < seconds * 1_000; made += BULK) await create();
      rates.push(made / ((performance.now() - started) / 1_000));
    }
    const rate: Goal = { what: 'tasks a second', value: median(rates), goal: 10_000, better: 'more', unit: '' };
    return [{ name: 'POST /api/tasks/bulk of 500, one connection', goals: [rate], notes: [] }];
  });
