import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { approveAll, openGates } from './caller.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import { getUser } from './smoke.js';
import type { Stack } from './stack.js';

const IMAGE = 'otel/opentelemetry-collector-contrib:0.138.0';
const FOLDER = 'received';

const CONFIG = `receivers:
  otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } }
exporters:
  file/traces: { path: /received/traces.ndjson, flush_interval: 100ms, append: true }
  file/logs: { path: /received/audit.ndjson, flush_interval: 100ms, append: true }
service:
  telemetry: { metrics: { level: none } }
  pipelines:
    traces: { receivers: [otlp], exporters: [file/traces] }
    logs: { receivers: [otlp], exporters: [file/logs] }
`;

const composeFile = (isPodman: boolean): string => `services:
  collector:
    image: ${IMAGE}
    command: [--config=/etc/collector.yaml]
    volumes: ['./collector.yaml:/etc/collector.yaml:ro', './${FOLDER}:/received']
    networks: [data]
${isPodman ? '    logging: { driver: k8s-file }\n' : ''}`;

/** Adds a collector to the installation, to which API and worker send all traces and all audit entries. */
async function addCollector(stack: Stack): Promise<void> {
  const folder = join(stack.dir, FOLDER);
  mkdirSync(folder, { recursive: true });
  // The collector has a user of its own.
  chmodSync(folder, 0o777);
  writeFileSync(join(stack.dir, 'collector.yaml'), CONFIG);
  writeFileSync(join(stack.dir, 'collector.override.yml'), composeFile(stack.engine.isPodman));
  const env = join(stack.dir, '.env');
  const text = readFileSync(env, 'utf8');
  if (!text.includes('collector.override.yml')) {
    writeFileSync(env, text.replace(/^COMPOSE_FILE=.*$/m, '$&:collector.override.yml'));
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_TRACES_SAMPLER_ARG: 1,
      AUDIT_OTLP_ENDPOINT: 'http://collector:4318',
    };
    appendFileSync(
      env,
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
  }
  await stack.compose(['up', '--detach', '--wait', '--no-build']);
}

interface Received {
  resourceSpans?: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { traceId: string; name: string }[] }[];
  }[];
}

/** Spans of a trace that the collector has written, as `service name`. */
function readTrace(file: string, traceId: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'));
  return lines.flatMap((line) =>
    ((JSON.parse(line) as Received).resourceSpans ?? []).flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      return scopeSpans.flatMap(({ spans }) =>
        spans.flatMap((span) => (span.traceId === traceId ? `${service} ${span.name}` : [])),
      );
    }),
  );
}

/** What the verifier of a receiver says: its first line. */
const verifyReceived = (file: string): Promise<string> =>
  shell([process.execPath, resolve('clients/verify-stream.mjs'), file]).then(
    (printed) => printed.split('\n')[0] ?? '',
    (error: Error) => `NOT: ${error.message.slice(-300)}`,
  );

/** Waits until every chain is sent to its head; returns what the verifier says of the collector's file, which may be behind by its buffer. */
async function waitForEntries(stack: Stack, file: string): Promise<string> {
  await until('every audit entry sent', 300, async () => {
    const [left] = await stack.sql(
      'select count(*) from audit_heads h left join audit_stream s using (chain) where h.sequence > coalesce(s.sequence, 0)',
    );
    return left === '0';
  });
  const [verdict] = await until('every audit entry in the file', 60, async () => {
    const said = await verifyReceived(file);
    return said.startsWith('complete: ') && said;
  });
  return verdict;
}

/**
 * Sends traces and audit entries to an OpenTelemetry Collector: one trace leads from a request to the actions behind a gate's event, and the
 * receiver proves from its own file that no audit entry is missing, also after the collector was away.
 */
export async function checkTelemetry(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await addCollector(stack);
  // Of an installation that is used again, the file may be another one.
  await stack.sql('delete from audit_stream');
  const [traces, audit] = ['traces.ndjson', 'audit.ndjson'].map((name) => join(stack.dir, FOLDER, name)) as [string, string];
  const gates = await openGates(user, 1);
  const ids = gates.runs.map(({ run_id }) => `'${run_id}'`).join(',');
  const [correlationId = ''] = await stack.sql(
    `select correlation_id from automation_runs where run_id in (${ids}) order by queued_at desc limit 1`,
  );
  const wanted = ['assent-api POST /api/tasks', 'assent-worker event task.created', 'assent-worker dispatch automation_run'];
  const traceId = correlationId.replaceAll('-', '');
  const [spans] = await until('the trace at the collector', 60, () => {
    const found = readTrace(traces, traceId);
    return Promise.resolve(wanted.every((span) => found.includes(span)) && found);
  });
  report.add('spans of one trace, from the request to the workflow', `${spans.length}: ${wanted.join(', ')}`, 'all three', true);
  report.add('audit entries at the collector, by its own file', await waitForEntries(stack, audit), 'complete', true);
  await stack.compose(['stop', '--timeout', '1', 'collector']);
  await approveAll(user, gates, stack);
  await stack.compose(['start', 'collector']);
  report.add('the same after the collector was away', await waitForEntries(stack, audit), 'complete', true);
}
