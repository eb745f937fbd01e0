import { randomBytes } from 'node:crypto';
import { VERSION } from '../../../../db/schema/check-schema.js';
import type { Config } from '../../config.js';
import type { Logger } from '../log.js';
import { type EndedSpan, SpanExporter } from './span-exporter.js';
import { isSampled, type SpanLink, toSpanId, toTraceId } from './trace-ids.js';

/** Values of the protocol. */
const KINDS = { internal: 1, server: 2, client: 3, producer: 4 } as const;

/** Fixed names and values that hold no text of a user; undefined ones are left out. */
type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  name: string;
  kind: keyof typeof KINDS;
  /** Id of the request or row whose work this is: other processes name this span by it. A random one unless given. */
  id?: string | undefined;
  /** Id of the parent: of a request, a row or a span. Null for the first span of a trace. */
  parent: string | null;
  /** `performance.now()` at the start; now unless given. */
  since?: number;
  link?: SpanLink | undefined;
}

/** A span that has begun, of a trace that is exported. */
export interface Span {
  readonly id: string;
  /** For the receiver of a request that this span sends. */
  readonly traceparent: string;
  begin: (start: Omit<SpanStart, 'parent'>) => Span;
  end: (attributes?: SpanAttributes, failed?: boolean) => void;
}

export interface Tracer {
  /** Begins a span of the trace of this correlation id; undefined if the trace is not exported. */
  begin: (correlationId: string, start: SpanStart) => Span | undefined;
  /** Exports what has ended, for at most two seconds. */
  stop: () => Promise<void>;
}

/** Creates the tracer of a process. Load it by `startTracing`. */
export function createTracer(config: Config, process: 'api' | 'worker', log: Logger): Tracer {
  const { OTEL_TRACES_SAMPLER_ARG: ratio, OTEL_SERVICE_NAME: name = `assent-${process}` } = config;
  const exporter = new SpanExporter(config, { 'service.name': name, 'service.version': VERSION }, log);

  const beginIn = (traceId: string, start: SpanStart): Span => {
    const { since = performance.now(), parent } = start;
    const startedMs = Date.now() - (performance.now() - since);
    const id = start.id === undefined ? randomBytes(8).toString('hex') : toSpanId(start.id);
    return {
      id,
      traceparent: `00-${traceId}-${id}-01`,
      begin: (child) => beginIn(traceId, { ...child, parent: id }),
      end(attributes = {}, failed = false) {
        const span: EndedSpan = {
          traceId,
          id,
          parentId: parent === null ? undefined : toSpanId(parent),
          name: start.name,
          kind: KINDS[start.kind],
          startedMs,
          endedMs: startedMs + performance.now() - since,
          attributes,
          link: start.link,
          failed,
        };
        exporter.add(span);
      },
    };
  };

  return {
    begin(correlationId, start) {
      const traceId = toTraceId(correlationId);
      return isSampled(traceId, ratio) ? beginIn(traceId, start) : undefined;
    },
    stop: () => exporter.stop(),
  };
}
