import { Agent } from 'node:http';
import { metered } from '../../process-table.js';
import type { Goal, Section } from '../../report.js';
import { withSides } from '../requests-section.js';
import { addProject } from '../../seed.js';
import { bearer, expect, send } from '../../send.js';
import { median, sum } from '../../statistics.js';

const BULK = 500;
type Metered = Awaited<ReturnType<typeof metered<{ made: number; seconds: number }, 'app' | 'postgres'>>>;

/** Creates tasks 500 at a time, sequentially and concurrently. */
export const bulkSection: Section = (servers, world, { seconds, rounds }) =>
  withSides(servers, async ({ product }) => {
    const project = await addProject(servers.db, world, 0);
    const item = { title: 'Check the pressure of tank 2', project_id: project, priority: 'high', tags: ['hardware', 'pad-b'] };
    const body = JSON.stringify(Array.from({ length: BULK }, () => item));
    const headers = { ...bearer(world), 'Content-Type': 'application/json' };
    const create = (over: Agent) => expect(200, send(product.port, '/api/tasks/bulk', headers, body, over));
    const figures: { connections: number; rate: number; cpu: string }[] = [];
    for (const connections of [1, 4]) {
      const over = new Agent({ keepAlive: true, maxSockets: connections });
      const work = () => makeFor(seconds * 1_000, connections, () => create(over));
      await work();
      const readings = { app: product.cpu, postgres: servers.postgresCpu };
      const runs: Metered[] = [];
      for (let round = 0; round < rounds; round += 1) runs.push(await metered(readings, work));
      const made = sum(runs.map(({ result }) => result.made));
      const each = (of: 'app' | 'postgres') => ((sum(runs.map(({ cpu }) => cpu[of])) / made) * 1e6).toFixed(0);
      const rate = median(runs.map(({ result }) => result.made / result.seconds));
      const cpu = `${connections} connections: CPU µs a task ${each('app')} Node + ${each('postgres')} PostgreSQL`;
      figures.push({ connections, rate, cpu });
      over.destroy();
    }
    const goals = figures.map(
      ({ connections, rate }): Goal => ({
        what: `tasks a second, ${connections} connection${connections === 1 ? '' : 's'}`,
        value: rate,
        goal: 10_000,
        better: 'more',
        unit: '',
      }),
    );
    return [{ name: 'POST /api/tasks/bulk of 500', goals, notes: figures.map(({ cpu }) => cpu) }];
  });

/** Repeats `create` on several lanes for a time; returns the number of tasks and the seconds. */
async function makeFor(ms: number, lanes: number, create: () => Promise<unknown>): Promise<{ made: number; seconds: number }> {
  const started = performance.now();
  let made = 0;
  const lane = async () => {
    for (; performance.now() - started < ms; made += BULK) await create();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { made, seconds: (performance.now() - started) / 1_000 };
}
