import { startReceiver, type Receiver } from './receiver.js';

/** A span as a collector shows it. */
export interface CollectedSpan {
  trace: string;
  id: string;
  parent: string | undefined;
  name: string;
  kind: number;
  service: string;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  isFailed: boolean;
  startedAt: bigint;
  endedAt: bigint;
}

interface Pair {
  key: string;
  value: { stringValue?: string; intValue?: string; doubleValue?: number };
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Pair[];
  links?: { traceId: string; spanId: string }[];
  status?: { code: number };
}
interface Body {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

const readPairs = (pairs: Pair[]): Record<string, string | number> =>
  Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ?? (value.intValue ? Number(value.intValue) : (value.doubleValue ?? '')),
    ]),
  );

const readSpan = (span: OtlpSpan, service: string): CollectedSpan => ({
  trace: span.traceId,
  id: span.spanId,
  parent: span.parentSpanId,
  name: span.name,
  kind: span.kind,
  service,
  attributes: readPairs(span.attributes),
  links: span.links ?? [],
  isFailed: span.status?.code === 2,
  startedAt: BigInt(span.startTimeUnixNano),
  endedAt: BigInt(span.endTimeUnixNano),
});

export interface Collector extends Receiver {
  /** Everything that has arrived. */
  spans: () => CollectedSpan[];
}

/** A collector of traces over HTTP: it takes OTLP/JSON. */
export async function startCollector(): Promise<Collector> {
  const receiver = await startReceiver();
  const spans = (): CollectedSpan[] =>
    receiver.received.flatMap(({ body }) =>
      (JSON.parse(body) as Body).resourceSpans.flatMap(({ resource, scopeSpans }) => {
        const service = String(readPairs(resource.attributes)['service.name']);
        return scopeSpans.flatMap((scope) => scope.spans.map((span) => readSpan(span, service)));
      }),
    );
  return { ...receiver, spans };
}
