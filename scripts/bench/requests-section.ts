import type { Goal, Section } from './report.js';
import { type Comparison, compare } from './rounds.js';
import { deliverySource, type TaskRequest, taskSources } from './requests.js';
import type { ApiService, Servers, Service } from './servers.js';

const rateGoal = (comparison: Comparison, goal: number): Goal => ({
  what: 'share of the floor’s rate',
  value: comparison.ratio,
  goal,
  better: 'more',
  unit: '',
});
const cpuGoal = (comparison: Comparison, goal: number): Goal => ({
  what: 'times the floor’s CPU',
  value: comparison.cpuRatio,
  goal,
  better: 'less',
  unit: '',
});

/** Runs `work` with an API and the floor; the worker does not run, so both sides do the request's own work only. */
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

/** A signed delivery to its durable receipt and outbox row. */
export const webhookSection: Section = (servers, _world, load) =>
  withSides(servers, async (sides) => {
    const comparison = await compare(servers, sides, deliverySource(), load);
    return [
      { name: `webhook ingest, ${load.connections} connections`, comparison, goals: [rateGoal(comparison, 0.6)], notes: [] },
    ];
  });

const perSecond = (value: number, goal: number): Goal => ({
  what: 'durable, on one team',
  value,
  goal,
  better: 'more',
  unit: '/s',
});
const write = (comparison: Comparison) => [rateGoal(comparison, 0.6), cpuGoal(comparison, 1.7)];
const read = (comparison: Comparison) => [rateGoal(comparison, 0.75)];
const TASK_REQUESTS: Record<TaskRequest, { name: string; goals: (comparison: Comparison) => Goal[] }> = {
  create: { name: 'POST /api/tasks', goals: (comparison) => [...write(comparison), perSecond(comparison.product.rate, 1_500)] },
  update: { name: 'PATCH /api/tasks/:id with its version', goals: write },
  status: { name: 'PATCH /api/tasks/:id/status', goals: write },
  get: { name: 'GET /api/tasks/:id', goals: read },
  list: { name: 'GET /api/tasks of a project of 50', goals: read },
  me: { name: 'GET /api/auth/me', goals: read },
};

/** One of the hot requests, by a personal access token, over 100,000 tasks. */
export function taskSection(request: TaskRequest): Section {
  const { name, goals } = TASK_REQUESTS[request];
  return (servers, world, load) =>
    withSides(servers, async (sides) => {
      const comparison = await compare(servers, sides, taskSources(world)[request], load);
      return [{ name: `${name}, ${load.connections} connections`, comparison, goals: goals(comparison), notes: [] }];
    });
}
