import { metered, readResident } from '../process-table.js';
import type { Goal, Section } from '../report.js';
import { withSides } from './requests-section.js';
import { addProject } from '../seed.js';
import { type Answered, bearer, expect, send } from '../send.js';
import type { ApiService, Servers, Service } from '../servers.js';
import { median, quantile, sum } from '../statistics.js';

const listPath = (project: string) => `/api/tasks?project_id=${project}`;

/** Longest block of the API's event loop since the last call, ms. */
async function longestBlock({ metricsPort }: ApiService): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
}

const analyse = ({ db }: Servers) => db.raw('vacuum (analyze) tasks, projects');

/** Load of one response on the API: the longest block of the event loop and the peak growth of memory. */
async function measureBurden(api: ApiService, ask: () => Promise<unknown>): Promise<{ blocked: number; grown: number }> {
  const before = readResident(api.pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, readResident(api.pid))), 2);
  await longestBlock(api);
  await ask();
  const blocked = await longestBlock(api);
  clearInterval(watch);
  return { blocked, grown: (most - before) / 2 ** 20 };
}

/** One side's responses: their times and total CPU. */
interface Answers {
  ms: number[];
  cpu: { app: number; postgres: number };
}

const newAnswers = (): Answers => ({ ms: [], cpu: { app: 0, postgres: 0 } });

/** Sends one request and adds its result. */
async function note(servers: Servers, { port, cpu }: Service, answers: Answers, ask: (port: number) => Promise<Answered>) {
  const { result, cpu: spent } = await metered({ app: cpu, postgres: servers.postgresCpu }, () => ask(port));
  answers.ms.push(result.ms);
  answers.cpu.app += spent.app;
  answers.cpu.postgres += spent.postgres;
  return result;
}

/** Formats times and CPU per request. */
function describeSide(name: string, { ms, cpu }: Answers): string {
  const each = (seconds: number) => ((seconds / ms.length) * 1_000).toFixed(1);
  const times = `p50 ${median(ms).toFixed(1)} ms  p99 ${quantile(ms, 0.99).toFixed(1)} ms`;
  return `${name.padEnd(8)}${times}  CPU ms a request ${each(cpu.app)} Node + ${each(cpu.postgres)} PostgreSQL`;
}

/** A list of this many tasks, one request at a time, alternating with the baseline. */
export function listSection(count: 1_000 | 10_000): Section {
  return (servers, world, { rounds }) =>
    withSides(servers, async ({ product, floor }) => {
      const path = listPath(await addProject(servers.db, world, count));
      await analyse(servers);
      const ask = (port: number) => expect(200, send(port, path, bearer(world)));
      for (let i = 0; i < 5; i += 1) for (const { port } of [product, floor]) await ask(port);
      const answers = { product: newAnswers(), floor: newAnswers() };
      let bytes = 0;
      for (let i = 0; i < rounds * 10; i += 1) {
        bytes = (await note(servers, product, answers.product, ask)).bytes;
        await note(servers, floor, answers.floor, ask);
      }
      const [mine, bare] = [median(answers.product.ms), median(answers.floor.ms)];
      const spent = ({ cpu }: Answers) => sum(Object.values(cpu));
      const burden = await measureBurden(product, () => ask(product.port));
      const p50: Goal = {
        what: 'times the baseline’s p50',
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
            describeSide('product', answers.product),
            describeSide('floor', answers.floor),
            `${(bytes / 1e6).toFixed(2)} MB, ${(spent(answers.product) / spent(answers.floor)).toFixed(2)} times the baseline’s CPU`,
          ],
        },
      ];
    });
}

/** The list of 10,000 requested again with its ETag. */
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
