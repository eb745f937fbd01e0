import { Client, Connection } from '@temporalio/client';
import { scheduleId } from '../../../../workflows/contracts/run-contract.js';
import { ensureSchedules } from '../../../../activities/schedules.js';
import type { RunningWorker } from '../../../../activities/worker/start-worker.js';
import { startTracing } from '../../../../api/platform/telemetry/tracing/start-tracing.js';
import { buildAccount } from '../../../factories/accounts.js';
import { buildAutomation, gate, setStatus } from '../../../factories/automations.js';
import { buildCookie, buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { type CollectedSpan, type Collector, startCollector } from '../../../support/collector.js';
import { type MailServer, startMailServer } from '../../../support/mail-server.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { queuePrefix, runWorker, until, untilRunIs } from '../../../support/worker.js';
import { send } from '../../integrations/forge/deliver.js';

// One trace from a request or a delivery to the requests that it causes, under the correlation id.

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let collector: Collector;
let receiver: Receiver;
let mailServer: MailServer;
let connection: Connection;
let temporal: Client;

beforeAll(async () => {
  [collector, receiver, mailServer] = await Promise.all([startCollector(), startReceiver(), startMailServer()]);
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    OUTBOUND_LOOPBACK: 'allow',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    MAIL_URL: mailServer.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_SERVICE_NAME: 'assent-test',
  });
  const { config, log } = app.services;
  Object.assign(app.services, { tracer: await startTracing(config, 'api', log) });
  worker = await runWorker(app);
  team = await buildTeam(app);
  connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await worker.stop();
  await connection.close();
  await app.services.tracer?.stop();
  collector.close();
  receiver.close();
  await mailServer.close();
  await app.close();
});

const traceOf = ({ headers }: Pick<Answer, 'headers'>): string => (headers.get('x-correlation-id') ?? '').replaceAll('-', '');

/** Waits until a trace has these spans and their parents, which may end later; some are exported after five seconds. */
const collect = (trace: string, ...names: string[]): Promise<CollectedSpan[]> =>
  until(async () => {
    const spans = collector.spans().filter((span) => span.trace === trace);
    const has = (name: string) => spans.some((span) => span.name === name);
    const hasParent = ({ parent }: CollectedSpan) => parent === undefined || spans.some(({ id }) => id === parent);
    return names.every(has) && spans.every(hasParent) && spans;
  });

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const [found, ...more] = spans.filter((span) => span.name === name);
  if (!found || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} spans ${name}`);
  return found;
};

/** Names from the first span of the trace to this one. @throws Error if a parent does not exist */
function chain(spans: readonly CollectedSpan[], { name, parent }: CollectedSpan): string[] {
  if (parent === undefined) return [name];
  const [above, ...more] = spans.filter(({ id }) => id === parent);
  if (!above || more.length > 0) throw new Error(`${name} has ${more.length + (above ? 1 : 0)} parents`);
  return [...chain(spans, above), name];
}

/** Every span leads to the one first span, and none begins before its parent. */
function expectWhole(spans: readonly CollectedSpan[]): void {
  const first = spans.filter(({ parent }) => parent === undefined);
  expect(first).toHaveLength(1);
  for (const span of spans) {
    expect(chain(spans, span)[0]).toBe(first[0]?.name);
    expect(span.endedAt >= span.startedAt).toBe(true);
    expect(span.service).toBe('assent-test');
  }
}

const call = (path: string) => ({ type: 'http_request', params: { method: 'POST', url: `${receiver.url}${path}?key=hidden` } });
const arrived = (path: string) => receiver.received.find(({ url }) => url.startsWith(path));

it('goes from the creation of a task to the requests that it causes', async () => {
  const automation = await buildAutomation(app, team, { actions: [call('/from-task')] });
  const input = { team_id: team.team_id, url: `${receiver.url}/webhook`, events: ['task.created'] };
  await app.as(team.admin).post('/api/webhooks', input);
  const { project_id } = await buildProject(app, team);
  const created = await app.as(team.member).post('/api/tasks', { title: 'Hidden title', project_id });
  expect(created.status).toBe(201);
  const run = await untilRunIs(app, automation, 'succeeded');
  const spans = await until(async () => {
    const found = await collect(traceOf(created), 'http_request', 'webhook delivery');
    return found.filter(({ kind }) => kind === 3).length === 2 && found;
  });
  expectWhole(spans);

  const outbound = spans.filter(({ name }) => name === 'POST').map((span) => chain(spans, span));
  expect(outbound.toSorted((one, other) => other.length - one.length)).toEqual([
    ['POST /api/tasks', 'event task.created', 'dispatch automation_run', 'http_request', 'POST'],
    ['POST /api/tasks', 'webhook delivery', 'POST'],
  ]);
  expect(named(spans, 'POST /api/tasks')).toMatchObject({
    kind: 2,
    id: traceOf(created).slice(16),
    attributes: { 'http.route': 'POST /api/tasks', 'http.response.status_code': 201 },
  });
  expect(named(spans, 'event task.created').attributes).toMatchObject({ runs: 1 });
  expect(named(spans, 'http_request').attributes).toMatchObject({ run_id: run['run_id'], attempt: 1 });
  for (const { attributes } of spans.filter(({ kind }) => kind === 3))
    expect(attributes).toEqual({ 'server.address': '127.0.0.1', 'http.response.status_code': 200 });
  for (const [path, parent] of [
    ['/from-task', 'http_request'],
    ['/webhook', 'webhook delivery'],
  ] as const) {
    const client = spans.find((span) => span.kind === 3 && span.parent === named(spans, parent).id);
    expect(arrived(path)?.headers['traceparent']).toBe(`00-${traceOf(created)}-${client?.id}-01`);
  }
  expect(JSON.stringify(collector.received)).not.toMatch(/hidden|Hidden title/);
  expect(JSON.stringify(collector.received)).not.toContain(team.member.user_id);
});

it('goes from a signed delivery to the request that it causes', async () => {
  const automation = await buildAutomation(app, team, { trigger_type: 'forge.push', actions: [call('/from-push')] });
  const answer = await send(app, 'push.branch');
  await untilRunIs(app, automation, 'succeeded');
  const spans = await collect(traceOf(answer), 'POST');
  expectWhole(spans);
  expect(chain(spans, named(spans, 'POST'))).toEqual([
    'POST /api/forge/webhooks',
    'event forge.push',
    'dispatch automation_run',
    'http_request',
    'POST',
  ]);
  expect(arrived('/from-push')?.headers['traceparent']).toContain(traceOf(answer));
});

it('goes on through the event of an action; a decision is a trace of its own', async () => {
  const own = await buildTeam(app);
  await buildAutomation(app, own, { actions: [setStatus('done')] });
  const gated = await buildAutomation(app, own, { trigger_type: 'task.status_changed', actions: [gate(), call('/after-gate')] });
  const { project_id } = await buildProject(app, own);
  const created = await app.as(own.member).post('/api/tasks', { title: 'T', project_id });
  const { run_id } = (await untilRunIs(app, gated, 'paused')) as { run_id: string };
  const approved = await app.as(own.admin).post(`/api/automations/runs/${run_id}/approve`, { gate_index: 0 });
  expect([created.status, approved.status]).toEqual([201, 200]);
  await untilRunIs(app, gated, 'succeeded');
  const spans = await collect(traceOf(created), 'POST');
  expectWhole(spans);
  expect(chain(spans, named(spans, 'POST'))).toEqual([
    'POST /api/tasks',
    'event task.created',
    'dispatch automation_run',
    'event task.updated',
    'dispatch automation_run',
    'http_request',
    'POST',
  ]);
  const decision = await collect(traceOf(approved), 'dispatch automation_run');
  expectWhole(decision);
  expect(chain(decision, named(decision, 'dispatch automation_run'))).toEqual([
    'POST /api/automations/runs/:run_id/approve',
    'dispatch automation_run',
  ]);
});

/** Spans of this name that begin a trace of one of these workflows. */
const begun = (name: string, isOf: (workflowId: string) => boolean) => () =>
  Promise.resolve(
    collector.spans().find((span) => span.name === name && isOf(String(span.attributes['workflow_id'] ?? '')) && span),
  );

it('begins with the time of a schedule, and goes on to the request of its run', async () => {
  const { body: automation } = await app.as(team.admin).post('/api/automations', {
    name: 'Each minute',
    team_id: team.team_id,
    trigger_type: 'schedule',
    schedule_cron: '* * * * *',
    actions: [call('/from-schedule')],
  });
  expect(automation.automation_id).toBeDefined();
  const handle = temporal.schedule.getHandle(scheduleId(app.services.config.TASK_QUEUE_PREFIX, automation.automation_id));
  await until(() => handle.describe().catch(() => undefined));
  const now = Date.now();
  await handle.backfill({ start: new Date(now - 120_000), end: new Date(now - 60_000) });
  const run = await untilRunIs(app, automation, 'succeeded');
  const first = await until(begun('fireSchedule', (id) => id.includes(automation.automation_id)));
  expect(run['correlation_id']).toMatch(/^[0-9a-f]{8}-/);
  const spans = await collect(String(run['correlation_id']).replaceAll('-', ''), 'POST');
  expectWhole(spans);
  expect(first.attributes).toMatchObject({ workflow_type: 'automationSchedule', attempt: 1 });
  expect(chain(spans, named(spans, 'POST'))).toEqual(['fireSchedule', 'dispatch automation_run', 'http_request', 'POST']);
});

it('begins with a due date that has passed, and each job of the service is a trace of its own', async () => {
  const automation = await buildAutomation(app, team, { trigger_type: 'task.overdue', actions: [call('/from-overdue')] });
  const { project_id } = await buildProject(app, team);
  await app.as(team.member).post('/api/tasks', { title: 'Late', project_id, due_date: '2026-01-02' });
  const { TASK_QUEUE_PREFIX } = app.services.config;
  const job = `${TASK_QUEUE_PREFIX}due-scan`;
  await ensureSchedules(temporal, TASK_QUEUE_PREFIX);
  await temporal.schedule.getHandle(job).trigger();
  const run = await untilRunIs(app, automation, 'succeeded');
  const spans = await collect(String(run['correlation_id']).replaceAll('-', ''), 'POST');
  expectWhole(spans);
  expect(chain(spans, named(spans, 'POST'))).toEqual(['event task.overdue', 'dispatch automation_run', 'http_request', 'POST']);
  const scan = await until(begun('runMaintenanceJob', (id) => id.startsWith(job)));
  expect(scan).toMatchObject({ parent: undefined, id: scan.trace.slice(16), isFailed: false });
});

it('has the mail that a request causes', async () => {
  const account = await buildAccount(app);
  const answer = await app.as().post('/api/auth/password/forgot', { email: account.email });
  const spans = await collect(traceOf(answer), 'mail password-code');
  expectWhole(spans);
  expect(named(spans, 'mail password-code')).toMatchObject({ kind: 3, isFailed: false, attributes: { attempts: 1 } });
  expect(JSON.stringify(collector.received)).not.toContain(account.email);
});

it('has pages by their declared path', async () => {
  const headers = { cookie: await buildCookie(app, team.member) };
  const answer = await fetch(`${app.url}/app/approvals?live=1`, { headers });
  const [span] = await collect(traceOf(answer), 'GET /app/approvals');
  expect(span).toMatchObject({ kind: 2, attributes: { 'http.response.status_code': 200 } });
});

it('links the trace of a caller and does not continue it', async () => {
  const [trace, id] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const me = (traceparent: string) => app.as(team.member).get('/api/auth/me', undefined, { headers: { traceparent } });
  const [span] = await collect(traceOf(await me(`00-${trace}-${id}-01`)), 'GET /api/auth/me');
  expect(span).toMatchObject({
    parent: undefined,
    links: [{ traceId: trace, spanId: id }],
    attributes: { caller_trace_id: trace },
  });
  const malformed = [`00-${'0'.repeat(32)}-${id}-01`, `00-${trace}-${id}-01-more`, 'Hidden words', `01-${trace}-${id}-01`];
  for (const header of malformed) {
    const [other] = await collect(traceOf(await me(header)), 'GET /api/auth/me');
    expect([header, other?.links, other?.attributes['caller_trace_id']]).toEqual([header, [], undefined]);
  }
});
