import { LRUCache } from 'lru-cache';
import { currentSpan } from '../../../platform/telemetry/tracing/current-span.js';
import type { Tracer } from '../../../platform/telemetry/tracing/tracer.js';
import type { EventBody } from './event-bodies.js';
import type { Leased, Sent } from './send.js';

/** An event with the id of the request that caused it. */
export interface CausedEvent extends EventBody {
  correlation_id: string;
}

/** Events whose cause this process remembers. The queue has none, so a delivery that another process sends has no span. */
const MAX_REMEMBERED = 20_000;

/** Spans of deliveries. */
export class DeliveryTraces {
  private readonly causes = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  constructor(private readonly tracer: Tracer) {}

  keep(events: readonly CausedEvent[]): void {
    for (const { event_id, correlation_id } of events) this.causes.set(event_id, correlation_id);
  }

  /** Sends within a span, if the cause is known and its trace is exported. */
  async during({ event_id, webhook_id, tries }: Leased, send: () => Promise<Sent>): Promise<Sent> {
    const cause = this.causes.get(event_id);
    const span = cause && this.tracer.begin(cause, { name: 'webhook delivery', kind: 'internal', parent: cause });
    if (!span) return send();
    const sent = await currentSpan.run(span, send);
    span.end({ webhook_id, event_id, tries, outcome: sent.status }, sent.status !== 'succeeded');
    return sent;
  }
}
