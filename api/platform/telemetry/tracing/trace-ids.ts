/** 128 bits as hexadecimal digits: the digits of the correlation id. */
export const toTraceId = (correlationId: string): string => correlationId.replaceAll('-', '');

/** The last 64 bits of an id, or a span id as it is. */
export const toSpanId = (id: string): string => id.replaceAll('-', '').slice(-16);

/** The last 40 bits: they are random in every id that we make, the earlier ones hold time and a sequence. */
const SAMPLED_DIGITS = 10;
const SAMPLED_RANGE = 2 ** (4 * SAMPLED_DIGITS);

/** Decides by the id alone, so every process decides alike and a trace is whole or absent. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-SAMPLED_DIGITS), 16) < ratio * SAMPLED_RANGE;

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const ZEROS = /^0+$/;

export interface SpanLink {
  traceId: string;
  spanId: string;
}

/** Returns the ids in a caller's `traceparent`, or undefined unless it is well-formed. */
export function readTraceparent(header: string | undefined): SpanLink | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(header ?? '') ?? [];
  return traceId === undefined || spanId === undefined || ZEROS.test(traceId) || ZEROS.test(spanId)
    ? undefined
    : { traceId, spanId };
}
