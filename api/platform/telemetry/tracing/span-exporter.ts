import { setTimeout as sleep } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { Agent, request } from 'undici';
import type { Config } from '../../config.js';
import type { Logger } from '../log.js';
import { metrics } from '../metrics.js';
import type { SpanLink } from './trace-ids.js';

/** Spans of one request, and the longest wait of fewer, ms. */
const BATCH = 512;
const FLUSH_EVERY_MS = 5_000;
/** Spans beyond this are dropped, so that a slow collector cannot fill the memory. */
const MAX_QUEUED = 2_048;
/** Time for one request, and for all of them when the process ends, ms. */
const TIMEOUT_MS = 10_000;
const STOP_MS = 2_000;
/** Characters of a text value. */
const MAX_VALUE = 200;

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
  attributes: Readonly<Record<string, string | number | undefined>>;
  link: SpanLink | undefined;
  failed: boolean;
}

/** Nanoseconds as text: a number cannot hold them. */
const toNanos = (ms: number): string =>
  `${Math.floor(ms)}${Math.floor((ms % 1) * 1_000_000)
    .toString()
    .padStart(6, '0')}`;

const toValue = (value: string | number): object => {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_VALUE).toWellFormed() };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const toAttributes = (attributes: EndedSpan['attributes']): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : { key, value: toValue(value) }));

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

const readHeaders = (pairs = ''): Record<string, string> =>
  Object.fromEntries(
    pairs
      .split(',')
      .filter((pair) => pair !== '')
      .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decodeURIComponent(pair.slice(pair.indexOf('=') + 1).trim())]),
  );

/**
 * Sends ended spans to a collector as OTLP/JSON, in batches. Never throws and never waits for the collector: what it does not take is dropped and
 * counted in `trace_spans_dropped_total`, because requests matter more than their traces.
 */
export class SpanExporter {
  private queue: EndedSpan[] = [];
  private sending: Promise<void> | undefined;
  private isFailing = false;
  private readonly url: string;
  private readonly headers: Record<string, string>;
  private readonly timer: NodeJS.Timeout;
  private readonly agent = new Agent({ connections: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  private isStopped = false;

  constructor(
    config: Pick<Config, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS'>,
    private readonly resource: EndedSpan['attributes'],
    private readonly log: Logger,
  ) {
    this.url = `${config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '')}/v1/traces`;
    this.headers = { ...readHeaders(config.OTEL_EXPORTER_OTLP_HEADERS), 'content-type': 'application/json' };
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
    await this.agent.destroy();
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
      const body = JSON.stringify({
        resourceSpans: [
          {
            resource: { attributes: toAttributes(this.resource) },
            scopeSpans: [{ scope: { name: 'assent' }, spans: spans.map(toOtlp) }],
          },
        ],
      });
      const response = await request(this.url, {
        dispatcher: this.agent,
        method: 'POST',
        headers: this.headers,
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body.dump();
      if (response.statusCode >= 300) throw new Error(`The collector returned ${response.statusCode}`);
      this.isFailing = false;
    } catch (error) {
      dropped.inc({ reason: 'failed' }, spans.length);
      if (!this.isFailing) this.log.warn({ err: error }, 'traces are not exported');
      this.isFailing = true;
    }
  }
}
