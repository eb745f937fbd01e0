import { Counter, Gauge } from 'prom-client';
import { metrics } from './metrics.js';

const attempts = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts of outbound webhooks: succeeded, retry (the next one is due later), failed (the last one)',
  labelNames: ['outcome'] as const,
  registers: [metrics],
});

const OUTCOMES = ['succeeded', 'retry', 'failed'] as const;
// A rate needs a value from before the first attempt.
for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0);

export function countWebhookAttempt(outcome: (typeof OUTCOMES)[number]): void {
  attempts.inc({ outcome });
}

const inFlight = new Gauge({
  name: 'webhook_requests_in_flight',
  help: 'Requests of outbound webhooks of this worker that wait for their receiver',
  registers: [metrics],
});

export function setInFlightRequests(count: number): void {
  inFlight.set(count);
}
