import { z } from 'zod';

/** http or https, without a password, which errors and logs would show. */
function isCollector(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** `name=value` pairs separated by commas, the values percent-encoded. */
const HEADERS = /^[\w-]+=[\x21-\x2b\x2d-\x7e]+(,\s*[\w-]+=[\x21-\x2b\x2d-\x7e]+)*$/;
const HALF_ESCAPE = /%(?![0-9a-f]{2})/i;

const collectorHeaders = z
  .string()
  .refine((text) => HEADERS.test(text) && !HALF_ESCAPE.test(text), 'must be name=value pairs separated by commas')
  .optional();
const collectorAddress = z.string().refine(isCollector, 'must be an http:// or https:// address without a password').optional();

/** Settings of traces, under the names of OpenTelemetry, and of the stream of audit entries. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorAddress.describe(
    'Collector that receives traces at /v1/traces; without it there are none',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: collectorHeaders.describe(
    'Headers for the collector, name=value separated by commas; values percent-encoded',
  ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(0.1).describe('Share of traces that are sent, 0 to 1'),
  OTEL_SERVICE_NAME: z
    .string()
    .max(100)
    .optional()
    .describe('Name of the process in traces; assent-api and assent-worker unless given'),
  AUDIT_OTLP_ENDPOINT: collectorAddress.describe(
    'Log sink that receives every audit entry at /v1/logs; without it there is none',
  ),
  AUDIT_OTLP_HEADERS: collectorHeaders.describe('Headers for this sink, in the same form'),
};
