import { setTimeout as sleep } from 'node:timers/promises';
import { Counter } from 'prom-client';
import type { Config } from '../../config.js';
import type { Logger } from '../log.js';
import { metrics } from '../metrics.js';
import { type OtlpAttributes, OtlpSender, toAttributes, toNanos } from '../otlp.js';
import type { SpanLink } from './trace-ids.js';

/** Spans of one request, and the longest wait of fewer, ms. */
const BATCH = 512;
const FLUSH_EVERY_MS = 5_000;
/** Spans beyond this are dropped, so that a slow collector cannot fill the memory. */
const MAX_QUEUED = 2_048;
/** Time for all requests when the process ends, ms. */
const STOP_MS = 2_000;

const dropped = new Counter({
  name: 'trace_spans_dropped_total',
  help: 'Spans that were not exported: queue_full, or failed, because the collector was away or refused them',
  labelNames: ['reason'] as const,
  registers: [metrics],
});
for (const reason of ['queue_full', 'failed'] as const) dropped.inc({ reason }, 0);

export interface EndedSpan {
  traceId: string;
  id: string;
  parentId: string | undefined;
  name: string;
  kind: number;
  /** Milliseconds since 1970, with a fraction. */
  startedMs: number;
  endedMs: number;
  attributes: OtlpAttributes;
  link: SpanLink | undefined;
  failed: boolean;
}

/** One span in OTLP/JSON. */
const toOtlp = (span: EndedSpan): object => ({
  traceId: span.traceId,
  spanId: span.id,
  parentSpanId: span.parentId,
  flags: 1,
  name: span.name,
  kind: span.kind,
  startTimeUnixNano: toNanos(span.startedMs),
  endTimeUnixNano: toNanos(span.endedMs),
  attributes: toAttributes(span.attributes),
  ...(span.link && { links: [span.link] }),
  ...(span.failed && { status: { code: 2 } }),
});

/**
 * Sends ended spans to a collector as OTLP/JSON, in batches. Never throws and never waits for the collector: what it does not take is dropped and
 * counted in `trace_spans_dropped_total`, because requests matter more than their traces.
 */
export class SpanExporter {
  private queue: EndedSpan[] = [];
  private sending: Promise<void> | undefined;
  private isFailing = false;
  private readonly sender: OtlpSender;
  private readonly timer: NodeJS.Timeout;
  private isStopped = false;

  constructor(
    config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS'>,
    private readonly resource: OtlpAttributes,
    private readonly log: Logger,
  ) {
    this.sender = new OtlpSender(config.OTEL_EXPORTER_OTLP_ENDPOINT ?? '', '/v1/traces', config.OTEL_EXPORTER_OTLP_HEADERS);
    this.timer = setInterval(() => this.flush(), FLUSH_EVERY_MS).unref();
  }

  add(span: EndedSpan): void {
    if (this.queue.length >= MAX_QUEUED || this.isStopped) return dropped.inc({ reason: 'queue_full' });
    this.queue.push(span);
    if (this.queue.length >= BATCH) this.flush();
  }

  /** Sends what waits for at most two seconds, then drops the rest. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    const drained = (async () => {
      while (this.sending !== undefined || this.queue.length > 0) {
        this.flush();
        await this.sending;
      }
    })();
    await Promise.race([drained, sleep(STOP_MS, undefined, { ref: false })]);
    this.isStopped = true;
    dropped.inc({ reason: 'failed' }, this.queue.length);
    this.queue = [];
    // Also ends a request that is still under way.
    await this.sender.close();
    await drained;
  }

  /** Sends all that waits, one request at a time, unless that is under way. */
  private flush(): void {
    if (this.queue.length === 0) return;
    this.sending ??= this.sendBatch(this.queue.splice(0, BATCH)).finally(() => {
      this.sending = undefined;
      if (this.queue.length >= BATCH) this.flush();
    });
  }

  private async sendBatch(spans: readonly EndedSpan[]): Promise<void> {
    try {
      await this.sender.send({
        resourceSpans: [
          {
            resource: { attributes: toAttributes(this.resource) },
            scopeSpans: [{ scope: { name: 'assent' }, spans: spans.map(toOtlp) }],
          },
        ],
      });
      this.isFailing = false;
    } catch (error) {
      dropped.inc({ reason: 'failed' }, spans.length);
      if (!this.isFailing) this.log.warn({ err: error }, 'traces are not exported');
      this.isFailing = true;
    }
  }
}
