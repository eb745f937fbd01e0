import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { v7 as uuidv7 } from 'uuid';
import { newId } from '../../../../api/platform/ids.js';
import { metrics } from '../../../../api/platform/telemetry/metrics.js';
import { startTracing } from '../../../../api/platform/telemetry/tracing/start-tracing.js';
import { isSampled, toTraceId } from '../../../../api/platform/telemetry/tracing/trace-ids.js';
import type { Tracer } from '../../../../api/platform/telemetry/tracing/tracer.js';
import { killApiProcesses, startApiProcess } from '../../../resilience/api-process.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Collector, startCollector } from '../../../support/collector.js';
import { until } from '../../../support/worker.js';

let app: TestApp;
let collector: Collector;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

const start = async (settings: object = {}): Promise<Tracer> => {
  const { config, log } = app.services;
  const given = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: 1, ...settings };
  return (await startTracing({ ...config, ...given }, 'api', log)) as Tracer;
};

const record = (tracer: Tracer, count: number): void => {
  for (let i = 0; i < count; i += 1)
    tracer.begin(uuidv7(), { name: 'a span', kind: 'internal', parent: null })?.end({ i, x: 1.5 });
};

async function countDropped(): Promise<Record<string, number>> {
  const values = (await metrics.getSingleMetric('trace_spans_dropped_total')?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['reason']), value]));
}

describe('the share of traces', () => {
  it('is decided by the id alone', () => {
    const ids = Array.from({ length: 20_000 }, () => toTraceId(newId()));
    const share = (ratio: number) => ids.filter((id) => isSampled(id, ratio)).length / ids.length;
    expect([share(0), share(1)]).toEqual([0, 1]);
    expect(share(0.1)).toBeGreaterThan(0.08);
    expect(share(0.1)).toBeLessThan(0.12);
    const tenth = ids.filter((id) => isSampled(id, 0.1));
    expect(tenth.every((id) => isSampled(id, 0.5))).toBe(true);
  });

  it('of 0 exports nothing', async () => {
    const tracer = await start({ OTEL_TRACES_SAMPLER_ARG: 0 });
    record(tracer, 1_000);
    await tracer.stop();
    expect(collector.received).toEqual([]);
  });
});

describe('the collector', () => {
  it('gets batches with its headers, and the rest when the process ends', async () => {
    const tracer = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/under/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-scope=1',
    });
    record(tracer, 600);
    await until(async () => collector.spans().length === 512);
    await tracer.stop();
    expect(collector.spans()).toHaveLength(600);
    expect(collector.spans()[0]).toMatchObject({ name: 'a span', service: 'assent-api', attributes: { i: 0, x: 1.5 } });
    for (const { url, headers } of collector.received) {
      expect(url).toBe('/under/v1/traces');
      expect(headers).toMatchObject({ authorization: 'Bearer a,b', 'x-scope': '1', 'content-type': 'application/json' });
    }
  });

  it('that does not answer fills no memory and delays no end', async () => {
    collector.answer(() => undefined);
    const before = await countDropped();
    const tracer = await start();
    record(tracer, 10_000);
    // One batch is under way, the queue holds 2,048.
    const full = (await countDropped())['queue_full'] as number;
    expect(full - (before['queue_full'] ?? 0)).toBe(10_000 - 512 - 2_048);
    await tracer.stop();
    const after = await countDropped();
    expect((after['failed'] as number) - (before['failed'] ?? 0)).toBe(512 + 2_048);
    record(tracer, 1);
    expect((await countDropped())['queue_full']).toBe(full + 1);
  });

  it.each([
    ['answers 500', () => collector.answer((_request, response) => response.writeHead(500).end('no'))],
    ['is away', () => collector.close()],
  ])('that %s costs the spans only', async (_how, behave) => {
    behave();
    const before = (await countDropped())['failed'] ?? 0;
    const tracer = await start();
    record(tracer, 700);
    await tracer.stop();
    expect(((await countDropped())['failed'] as number) - before).toBe(700);
  });
});

describe('a process', () => {
  const settings = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' });

  it('sends what it has when it is told to stop', async () => {
    const api = await startApiProcess(app, settings());
    await fetch(`${api.url}/api/auth/me`);
    expect(await api.stop()).toBe(0);
    expect(collector.spans()).toMatchObject([{ name: 'GET /api/auth/me', service: 'assent-api', kind: 2 }]);
  });

  it('answers and ends as ever while the collector says nothing', async () => {
    collector.answer(() => undefined);
    const api = await startApiProcess(app, settings());
    const statuses = await Promise.all(Array.from({ length: 600 }, async () => (await fetch(`${api.url}/api/auth/me`)).status));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await api.stop()).toBe(0);
  });

  it('loads no tracer without an endpoint', async () => {
    // The metric is registered when the exporter is loaded.
    const code = `
      await import('./dist/api/http/app.js');
      await import('./dist/activities/worker/start-worker.js');
      const { metrics } = await import('./dist/api/platform/telemetry/metrics.js');
      const { startTracing } = await import('./dist/api/platform/telemetry/tracing/start-tracing.js');
      const log = { warn() {} };
      const isLoaded = () => metrics.getSingleMetric('trace_spans_dropped_total') !== undefined;
      const seen = [await startTracing({}, 'api', log) === undefined, isLoaded()];
      await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER_ARG: 1 }, 'api', log);
      console.log(JSON.stringify([...seen, isLoaded()]));
      process.exit();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(child, 'close');
    expect(Buffer.concat(chunks).toString().trim()).toBe('[true,false,true]');
  });
});
