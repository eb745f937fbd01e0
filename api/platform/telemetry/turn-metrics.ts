import { Counter, Histogram } from 'prom-client';
import { metrics } from './metrics.js';

const turns = new Counter({
  name: 'agent_turns_total',
  help: 'Messages to the agent by provider and end: answered, cancelled or the code of a failure',
  labelNames: ['provider', 'end'] as const,
  registers: [metrics],
});
const seconds = new Histogram({
  name: 'agent_turn_seconds',
  help: 'Time from a message to its answer',
  labelNames: ['provider'] as const,
  buckets: [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  registers: [metrics],
});

/** Records an ended turn. */
export function observeTurn(provider: string, end: string, took: number): void {
  turns.inc({ provider, end });
  seconds.observe({ provider }, took);
}
