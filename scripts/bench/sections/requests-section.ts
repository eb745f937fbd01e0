import type { Goal, Section } from '../report.js';
import { type Comparison, compare, type LoadOptions } from '../rounds.js';
import type { Source } from '../load.js';
import { quiet } from '../quiet.js';
import { deliverySource, type TaskRequest, taskSources } from '../requests.js';
import type { ApiService, Servers, Service } from '../servers.js';

export const rateGoal = (comparison: Comparison, goal: number): Goal => ({
  what: 'share of the baseline’s rate',
  value: comparison.ratio,
  goal,
  better: 'more',
  unit: '',
});
const cpuGoal = (comparison: Comparison, goal: number): Goal => ({
  what: 'times the baseline’s CPU',
  value: comparison.cpuRatio,
  goal,
  better: 'less',
  unit: '',
});

/** Runs `work` with an API and the baseline, without a worker, so both sides do the request's own work only. */
export async function withSides<T>(
  servers: Servers,
  work: (sides: { product: ApiService; floor: Service }) => Promise<T>,
): Promise<T> {
  const product = await servers.startApi();
  const floor = await servers.startFloor('http');
  try {
    return await work({ product, floor });
  } finally {
    await Promise.all([product.stop(), floor.stop()]);
    await servers.db.raw('truncate outbox');
  }
}

/** The same with a worker: all work that a request causes counts as its own. */
async function withWorker(servers: Servers, source: Source, load: LoadOptions): Promise<Comparison> {
  await servers.startTemporal();
  return withSides(servers, async ({ product, floor }) => {
    const worker = await servers.startWorker();
    try {
      await quiet(servers.db);
      return await compare(servers, { product: { ...product, worker }, floor }, source, load);
    } finally {
      await worker.stop();
    }
  });
}

/** A signed delivery to its durable receipt and outbox row; then including the relay's work. */
export const webhookSection: Section = async (servers, _world, load) => {
  const name = `webhook ingest, ${load.connections} connections`;
  const alone = await withSides(servers, (sides) => compare(servers, sides, deliverySource(), load));
  const full = await withWorker(servers, deliverySource(), load);
  return [
    { name: `${name}, without what follows`, comparison: alone, goals: [rateGoal(alone, 0.6)], notes: [] },
    { name: `${name}, until everything it causes is done`, comparison: full, goals: [], notes: [] },
  ];
};

const durable = (request: TaskRequest, { product }: Comparison): Goal[] =>
  request === 'create' ? [{ what: 'durable, on one team', value: product.rate, goal: 1_500, better: 'more', unit: '/s' }] : [];
const write = (full: Comparison) => [rateGoal(full, 0.75), cpuGoal(full, 1.4)];
const read = (comparison: Comparison) => [rateGoal(comparison, 0.7)];
const WRITES: TaskRequest[] = ['create', 'update', 'status'];
const TASK_REQUESTS: Record<TaskRequest, { name: string; goals: (comparison: Comparison) => Goal[] }> = {
  create: { name: 'POST /api/tasks', goals: write },
  update: { name: 'PATCH /api/tasks/:id with its version', goals: write },
  status: { name: 'PATCH /api/tasks/:id/status', goals: write },
  get: { name: 'GET /api/tasks/:id', goals: read },
  list: { name: 'GET /api/tasks of a project of 50', goals: read },
  me: { name: 'GET /api/auth/me', goals: read },
};

/**
 * One of the hot requests with a personal access token, over 100,000 tasks. Writes are measured alone and with all the work they
 * cause; the goals apply to the latter.
 */
export function taskSection(request: TaskRequest): Section {
  const { name, goals } = TASK_REQUESTS[request];
  return async (servers, world, load) => {
    const source = taskSources(world)[request];
    const title = `${name}, ${load.connections} connections`;
    const alone = await withSides(servers, (sides) => compare(servers, sides, source, load));
    if (!WRITES.includes(request)) return [{ name: title, comparison: alone, goals: goals(alone), notes: [] }];
    const full = await withWorker(servers, source, load);
    return [
      { name: `${title}, without what follows`, comparison: alone, goals: durable(request, alone), notes: [] },
      { name: `${title}, until everything it causes is done`, comparison: full, goals: goals(full), notes: [] },
    ];
  };
}
