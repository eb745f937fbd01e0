import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { PoolUse } from '../../../db/connection-queue.js';

/** The process's metrics, served on the ops port. No label is an id. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });

const requests = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time to answer a request',
  labelNames: ['route', 'status'] as const,
  buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  registers: [metrics],
});

/** Records one completed request; `route` is the declared path, so its values stay few. */
export function observeRequest(route: string, status: number, ms: number): void {
  requests.observe({ route, status }, ms / 1000);
}

const pools = new Map<string, () => PoolUse>();
new Gauge({
  name: 'database_pool_connections',
  help: 'Connections of each pool of this process: size (most at once), used, and requests that wait for one',
  labelNames: ['pool', 'state'] as const,
  registers: [metrics],
  collect() {
    for (const [pool, use] of pools) {
      for (const [state, connections] of Object.entries(use())) this.set({ pool, state }, connections);
    }
  },
});

/** Reports the use of a pool under the name that PostgreSQL knows. */
export function watchPool(name: string, use: () => PoolUse): void {
  pools.set(name, use);
}

const droppedLogLines = new Counter({
  name: 'log_lines_dropped_total',
  help: 'Log lines that could not be written, for example because the disk is full',
  registers: [metrics],
});

export function countDroppedLogLines(lines: number): void {
  droppedLogLines.inc(lines);
}

const plans = new Counter({
  name: 'agent_plans_total',
  help: 'Plans of the agent that have ended: applied, discarded, superseded, source_gone, stale or expired',
  labelNames: ['source', 'end'] as const,
  registers: [metrics],
});

const changeRequests = new Counter({
  name: 'assent_change_requests_total',
  help: 'Change requests that were approved, rejected, redeemed or cancelled, or that expired',
  labelNames: ['end'] as const,
  registers: [metrics],
});

/** Counts change requests by what became of them. */
export function countRequests(end: string, count = 1): void {
  if (count > 0) changeRequests.inc({ end }, count);
}

/** Counts plans that have ended. */
export function countPlans(source: string, end: string, count = 1): void {
  plans.inc({ source, end }, count);
}
