import type { Leased, Sent } from './send.js';

/** An endpoint and its team. */
export interface Endpoint {
  webhook_id: string;
  team_id: string;
}

/** A delivery with what became of it. */
export interface Finished {
  delivery: Leased;
  sent: Sent;
}

/** Outcomes as `finish_webhooks` takes them: an array of each column. */
export const outcomeColumns = (finished: readonly Finished[]): unknown[][] => [
  finished.map(({ delivery }) => delivery.webhook_id),
  finished.map(({ delivery }) => delivery.event_id),
  finished.map(({ delivery }) => delivery.lease),
  finished.map(({ sent }) => sent.status),
  finished.map(({ sent }) => (sent.status === 'retry' ? sent.waitSeconds : null)),
  finished.map(({ sent }) => (sent.attempt ? JSON.stringify(sent.attempt) : null)),
];

/** What outcomes, in the order of their ends, say about an endpoint: a success, and the failures since. */
export interface Health {
  webhook_id: string;
  succeeded: boolean;
  failures: number;
}

/** Sums up outcomes by endpoint. Where an attempt is absent, nothing was sent. */
export function summarizeHealth(finished: readonly Finished[]): Health[] {
  const endpoints = new Map<string, Health>();
  for (const { delivery, sent } of finished) {
    const { webhook_id } = delivery;
    const health = endpoints.get(webhook_id) ?? { webhook_id, succeeded: false, failures: 0 };
    const isSuccess = sent.status === 'succeeded';
    const failed = sent.attempt && !isSuccess ? 1 : 0;
    endpoints.set(webhook_id, {
      webhook_id,
      succeeded: health.succeeded || isSuccess,
      failures: isSuccess ? 0 : health.failures + failed,
    });
  }
  return [...endpoints.values()];
}

/** The same for endpoints. */
export const healthColumns = (endpoints: readonly Health[]): unknown[][] => [
  endpoints.map(({ webhook_id }) => webhook_id),
  endpoints.map(({ succeeded }) => succeeded),
  endpoints.map(({ failures }) => failures),
];
