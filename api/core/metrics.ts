import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The process's metrics, served on the ops port. Never labelled by an id. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });

const requests = new Histogram({
  name: 'http_request_duration_ms',
  help: 'Time to answer, ms',
  labelNames: ['route', 'status'] as const,
  buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500],
  registers: [metrics],
});

/** Notes one answered request; `route` is the declared path, so that its values stay few. */
export function observeRequest(route: string, status: number, ms: number): void {
  requests.observe({ route, status }, ms);
}

const droppedLogLines = new Counter({
  name: 'log_lines_dropped_total',
  help: 'Log lines that could not be written, for example because the disk is full',
  registers: [metrics],
});

/** Counts log lines that could not be written. */
export function countDroppedLogLines(lines: number): void {
  droppedLogLines.inc(lines);
}
