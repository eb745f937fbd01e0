import type { ClaimedEvent } from '../../api/platform/outbox/match-events.js';
import type { RunStart } from '../../api/platform/outbox/subscriber.js';
import { isDueEvent } from '../../api/work/tasks/write/announce-due.js';
import type { Tracer } from '../../api/platform/telemetry/tracing/tracer.js';

/**
 * Exports one span for each event that starts runs, from the begin of the pass to its commit.
 * The parent is the run whose action caused the event, else the request or delivery; a due date that comes has none.
 * Returns the spans by event.
 */
export function traceEvents(
  tracer: Tracer,
  events: readonly ClaimedEvent[],
  starts: readonly RunStart[],
  since: number,
): Map<string, string> {
  const runs = new Map<string, number>();
  for (const { event_id } of starts) if (event_id !== undefined) runs.set(event_id, (runs.get(event_id) ?? 0) + 1);
  const spans = new Map<string, string>();
  for (const { event_id, subject, correlation_id, caused_by_run, created_at, now } of events) {
    const count = runs.get(event_id);
    if (count === undefined) continue;
    const place = isDueEvent(subject) ? { id: correlation_id, parent: null } : { parent: caused_by_run ?? correlation_id };
    const span = tracer.begin(correlation_id, { name: `event ${subject}`, kind: 'internal', since, ...place });
    if (!span) continue;
    span.end({ runs: count, outbox_wait_ms: Date.parse(now) - Date.parse(created_at) });
    spans.set(event_id, span.id);
  }
  return spans;
}
