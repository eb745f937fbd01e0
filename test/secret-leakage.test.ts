import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../activities/worker/start-worker.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { startTracing } from '../api/platform/telemetry/tracing/start-tracing.js';
import { bulkWorkflowId } from '../workflows/contracts/bulk-contract.js';
import { revocationWorkflowId } from '../workflows/contracts/revocation-contract.js';
import { runWorkflowId } from '../workflows/contracts/run-contract.js';
import { runnerJobWorkflowId } from '../workflows/contracts/runner-contract.js';
import { buildCookie, buildProject, buildTask, buildTeam, type TestTeam } from './factories/people.js';
import { buildRunner } from './factories/runners.js';
import { signatureHeaders } from '../api/integrations/webhooks/delivery/signature.js';
import { type Answer, startApp, type TestApp } from './support/app.js';
import { type Collector, startCollector } from './support/collector.js';
import { type Receiver, startReceiver } from './support/receiver.js';
import { type OAuthServer, startOAuthServer } from './support/oauth-server.js';
import { queuePrefix, runWorker, until, untilRunIs } from './support/worker.js';

// A secret of a team reaches only its receiver: no table, history, log, trace or response contains it.

const CANARY = 'canary/p@ss+"word" 7f3a91bc';
const SIGNING_KEY = `whsec_${Buffer.from('canary-signing-key-of-a-team').toString('base64')}`;
/** Inside base64 at each of three positions. */
const base64 = (text: string): string[] => [
  ...[0, 1, 2].map((at) =>
    Buffer.from(text)
      .toString('base64')
      .slice(at * 4 + 4, -8),
  ),
  ...[1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + text)
      .toString('base64')
      .slice(4, -8),
  ),
];
const inJson = (secret: string): string => JSON.stringify(secret).slice(1, -1);
const forms = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  inJson(secret),
  Buffer.from(secret).toString('hex'),
  ...base64(secret),
  ...base64(inJson(secret)),
];
/** The forge's tokens, codes and client secret all begin so. */
const OAUTH = ['canary-access', 'canary-refresh', 'canary-code', 'canary-client'];
const NEEDLES = [...forms(CANARY), ...forms(SIGNING_KEY), 'canary/p@ss', ...OAUTH, ...OAUTH.flatMap(base64)].filter(
  (needle) => needle.length >= 6,
);
/** Forms of the secrets that the product makes while the test runs. */
const made: string[] = [];
const hits = (text: string): string[] => [...NEEDLES, ...made].filter((needle) => text.includes(needle));

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let receiver: Receiver;
let endpoint: Receiver;
let forge: OAuthServer;
let collector: Collector;
const answers: Answer[] = [];

beforeAll(async () => {
  forge = await startOAuthServer();
  collector = await startCollector();
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    OUTBOUND_LOOPBACK: 'allow',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '1',
    ...forge.settings,
  });
  const { config } = app.services;
  const log = createLogger(config, 'worker', sink);
  Object.assign(app.services, { log, tracer: await startTracing(config, 'worker', log) });
  receiver = await startReceiver();
  endpoint = await startReceiver();
  worker = await runWorker(app);
  team = await buildTeam(app);
});
afterAll(async () => {
  await worker.stop();
  receiver.close();
  endpoint.close();
  forge.close();
  collector.close();
  await app.close();
});

const call = async (answer: Promise<Answer>): Promise<Answer> => {
  answers.push(await answer);
  return answers.at(-1) as Answer;
};
const db = () => app.services.db;

async function dump(): Promise<{ table: string; text: string }[]> {
  const { rows } = await db().raw<{ rows: { name: string }[] }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  const all: { table: string; text: string }[] = [];
  for (const { name } of rows) {
    const { rows: found } = await db().raw<{ rows: { text: string }[] }>(`select t::text as text from "${name}" t`);
    // PostgreSQL doubles the quotes and backslashes inside a row's text.
    all.push(...found.map(({ text }) => ({ table: name, text: text.replaceAll('""', '"').replaceAll('\\\\', '\\') })));
  }
  return all;
}

/** Everything in a history, payloads too, as one text. */
function toText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(toText).join('\n');
}

async function connectForge(): Promise<void> {
  const begun = await call(app.as(team.manager).post('/api/integrations/forge/connect', {}));
  const there = await fetch(begun.body.authorize_url, { redirect: 'manual' });
  const back = new URL(there.headers.get('location') ?? '');
  const headers = { cookie: await buildCookie(app, team.manager) };
  expect((await fetch(`${app.url}${back.pathname}${back.search}`, { headers })).status).toBe(200);
}

/** Ends the connection; the forge refuses once, with the token in its words, and then takes it back. Returns what waited meanwhile. */
async function disconnectForge(): Promise<string> {
  const waiting = () => db()('integration_revocations').pluck<string[]>('revocation_id');
  await connectForge();
  await until(async () => (await waiting()).length === 0); // what the first connection left
  forge.next = 500;
  const [order] = await Promise.all([
    until(async () => (await waiting())[0]),
    call(app.as(team.manager).delete('/api/integrations/forge')),
  ]);
  await until(async () => (await waiting()).length === 0);
  expect(forge.revoked).toHaveLength(1);
  return order;
}

/** Keeps what the only answer with it says of a webhook's secret. */
async function readSecret(answer: Promise<Answer>): Promise<{ webhook_id: string; secret: string }> {
  const { body } = await answer;
  made.push(...forms(body.secret), ...forms(body.secret.slice('whsec_'.length)));
  return body as { webhook_id: string; secret: string };
}

/** Uses a webhook in every way; its receiver answers with both of its secrets. */
async function useWebhook(): Promise<void> {
  const admin = app.as(team.admin);
  const input = { team_id: team.team_id, url: `${endpoint.url}/hook`, events: ['*'] };
  const first = await readSecret(admin.post('/api/webhooks', input));
  const path = `/api/webhooks/${first.webhook_id}`;
  const second = await readSecret(admin.post(`${path}/rotate-secret`));
  const words = `configured with ${first.secret} and ${JSON.stringify({ secret: second.secret })}`;
  endpoint.answer((_request, response) => response.end(`${words} ${encodeURIComponent(words)}`));
  const test = await call(admin.post(`${path}/test`));
  await until(async () => (await admin.get(`${path}/deliveries?status=succeeded`)).body.length > 0);
  await call(admin.get(`${path}/deliveries/${test.body.delivery_id}`));
  expect(answers.at(-1)?.body.attempts[0].response).toContain('configured with whsec_[secret] and');
  await call(admin.patch(path, { description: 'Seen' }));
  for (const below of [path, `${path}/deliveries`, `/api/webhooks?team_id=${team.team_id}`]) await call(admin.get(below));
  const [sent] = endpoint.received;
  const { 'webhook-id': id = '', 'webhook-timestamp': at = '' } = (sent?.headers ?? {}) as Record<string, string>;
  const signed = signatureHeaders([second.secret, first.secret], id, sent?.body ?? '', Number(at) * 1_000);
  expect(sent?.headers).toMatchObject(signed);
}

/**
 * Lets a runner do a job with the secret and print it in all its forms, in parts; everyone who may reads its log. Returns the workflows of the job
 * and its run.
 */
async function useRunner(): Promise<string[]> {
  const runner = await buildRunner(app, team);
  made.push(...forms(runner.token));
  // One that names hosts goes to no runner.
  const saved = { team_id: team.team_id, name: 'OF_RUNNERS', value: CANARY, allowed_hosts: [] };
  await call(app.as(team.admin).post('/api/automations/secrets', saved));
  const env = { KEY: '{{secret:OF_RUNNERS}}', ADDRESS: 'https://127.0.0.1/?k={{secret:OF_RUNNERS}}' };
  const actions = [{ type: 'dispatch_runner_job', params: { labels: [], command: 'deploy', env } }];
  const input = { name: 'Deploy', trigger_type: 'manual', team_id: team.team_id, actions };
  const automation = (await call(app.as(team.admin).post('/api/automations', input))).body as { automation_id: string };
  await call(app.as(team.admin).post(`/api/automations/${automation.automation_id}/execute`, { event: {} }));
  const given = await until(async () => (await runner.calls.post('/api/runners/claim', { wait_seconds: 20 })).body);
  expect(given.env).toEqual({ KEY: CANARY, ADDRESS: `https://127.0.0.1/?k=${CANARY}` });
  const path = `/api/runners/jobs/${given.job_id}`;
  const encoded = (text: string) => ['utf8', 'base64', 'hex'].map((code) => Buffer.from(text).toString(code as BufferEncoding));
  const words = [CANARY, `x${CANARY}`, encodeURIComponent(CANARY), inJson(CANARY)].flatMap(encoded);
  const log = `begin ${words.join(' ')} ${JSON.stringify(given.env)} end `;
  for (let offset = 0; offset < log.length; ) {
    const chunk = log.slice(offset, offset + 47);
    offset = (await call(runner.calls.post(`${path}/logs`, { chunk, offset }))).body.next_offset;
  }
  await call(runner.calls.post(`${path}/complete`, { status: 'failed', exit_code: 1, output: log }));
  const run = await untilRunIs(app, automation, 'failed', 'succeeded');
  for (const person of [team.member, team.admin])
    for (const below of [
      path,
      `${path}/logs`,
      `/api/runners/jobs?team_id=${team.team_id}`,
      `/api/automations/runs/${run.run_id}`,
    ])
      await call(app.as(person).get(below));
  const read = answers.find(({ body }) => typeof body.text === 'string')?.body.text as string;
  expect(read).toMatch(/^begin .*\*\*\*.* end /);
  return [runnerJobWorkflowId(given.job_id), runWorkflowId(run.run_id)];
}

/** Files of bulk data and of the audit log, as their readers get them. */
const files: string[] = [];

async function jobEnds(jobId: string): Promise<void> {
  const job = () => app.as(team.admin).get(`/api/bulk/jobs/${jobId}`);
  await until(async () => (await job()).body.finished_at !== null);
  expect((await call(job())).body).toMatchObject({ status: 'succeeded' });
}

/** Exports everything in each format, and imports it again. Returns the workflows. */
async function useBulk(): Promise<string[]> {
  const { team_id } = team;
  const ids: string[] = [];
  for (const wanted of [{ format: 'ndjson' }, { format: 'json' }, { format: 'csv', entities: ['automations'] }]) {
    const { job_id } = (await call(app.as(team.admin).post('/api/bulk/export', { team_id, ...wanted }))).body;
    await jobEnds(job_id);
    const headers = { authorization: `Bearer ${team.admin.token}` };
    const text = await (await fetch(`${app.url}/api/bulk/jobs/${job_id}/download`, { headers })).text();
    expect(text).toContain('{{secret:CANARY}}');
    files.push(text);
    ids.push(job_id);
  }
  const input = { team_id, format: 'ndjson', data: files[0], on_conflict: 'update' };
  const { job_id } = (await call(app.as(team.admin).post('/api/bulk/import', input))).body;
  await jobEnds(job_id);
  const logs = (await app.as(team.admin).post('/api/audit/export', { team_id, format: 'json' })).body;
  expect(logs.record_count).toBeGreaterThan(0);
  files.push(JSON.stringify(logs));
  return [...ids, job_id].map(bulkWorkflowId);
}

/** Adds every object of the store to the files. */
async function readStore(): Promise<void> {
  const folder = join(app.services.config.DATA_DIR, 'files');
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const stored = found.filter((entry) => entry.isFile());
  expect(stored.length).toBeGreaterThan(0);
  for (const { parentPath, name } of stored) files.push(await readFile(join(parentPath, name), 'utf8'));
}

const echo = (status: number) => (request: { headers: object; url: string; body: string }, response: ServerResponse) =>
  response
    .writeHead(status)
    .end(`${JSON.stringify(request.headers)} ${request.url} ${request.body} ${Buffer.from(request.body).toString('base64')}`);

it('goes to the receiver and nowhere else, though the receiver sends it back', async () => {
  const secret = { team_id: team.team_id, name: 'CANARY', value: CANARY, allowed_hosts: ['127.0.0.1'] };
  await call(app.as(team.admin).post('/api/automations/secrets', secret));
  await call(app.as(team.admin).post('/api/automations/secrets', { ...secret, name: 'WEBHOOK_SIGNING_KEY', value: SIGNING_KEY }));
  await call(app.as(team.admin).post('/api/automations/secrets', { ...secret, name: 'a/b' }));
  await call(app.as(team.member).post('/api/automations/secrets', secret));
  receiver.answer((request, response) => echo(request.url.startsWith('/fails') ? 503 : 200)(request, response));
  const post = (path: string, more: object = {}) => ({
    type: 'http_request',
    params: {
      method: 'POST',
      url: `${receiver.url}${path}`,
      headers: { 'X-Key': '{{secret:CANARY}}' },
      body: { key: '{{secret:CANARY}}', query: 'a={{secret:CANARY}}' },
    },
    ...more,
  });
  const definition = {
    name: 'Canary',
    trigger_type: 'task.created',
    team_id: team.team_id,
    actions: [
      post('/echo?key={{secret:CANARY}}'),
      post('/fails?key={{secret:CANARY}}', { retry: { max_attempts: 2 } }),
      {
        type: 'http_request',
        params: { method: 'GET', url: 'http://127.0.0.1:1/{{secret:CANARY}}' },
        retry: { max_attempts: 1 },
      },
      { type: 'http_request', params: { method: '{{secret:CANARY}}', url: receiver.url } },
      { type: 'send_webhook', params: { url: `${receiver.url}/hook`, payload: { key: '{{secret:CANARY}}' } } },
      { type: 'add_comment', params: { task_id: '{{event.task.task_id}}', content: '{{secret:CANARY}}' } },
      { type: 'forge_comment', params: { repo: 'acme/rocket', number: 7, body: 'Merged' } },
      { type: 'forge_comment', params: { repo: 'acme/rocket', number: 7, body: '{{secret:CANARY}}' } },
    ],
  };
  // The forge answers with the very token that it does not accept any more.
  await connectForge();
  await call(app.as(team.manager).get('/api/integrations'));
  forge.revokeAll();
  const saved = await call(app.as(team.manager).post('/api/automations', definition));
  const named = { method: 'GET', url: receiver.url, headers: { '{{secret:CANARY}}': 'in a name' } };
  const unsaved = { ...definition, actions: [{ type: 'http_request', params: named }] };
  expect((await call(app.as(team.manager).post('/api/automations', unsaved))).status).toBe(400);
  const automation = { automation_id: saved.body.automation_id as string };
  await buildTask(app, team, await buildProject(app, team));
  const run = await until(() =>
    db()('automation_runs').where(automation).whereNotNull('finished_at').first<{ run_id: string } | undefined>(),
  );
  const { run_id } = run;
  const steps = await db()('run_actions').where({ run_id }).orderBy('index');
  expect(steps.map(({ status, attempts, error }) => [status, attempts, error?.code ?? null])).toEqual([
    ['succeeded', 1, null],
    ['failed', 2, 'http_status'],
    ['failed', 1, 'connection_failed'],
    ['failed', 1, 'invalid_request'],
    ['succeeded', 1, null],
    ['failed', 1, 'secret_missing'],
    ['failed', 1, 'integration_disconnected'],
    ['failed', 1, 'secret_missing'],
  ]);
  // It did go out, and came back.
  expect(receiver.received).toHaveLength(4);
  for (const { body } of receiver.received) expect(body).toContain(JSON.stringify(CANARY).slice(1, -1));
  expect(steps[0].output.body).toContain('[secret]');

  for (const person of [team.guest, team.admin]) {
    const paths = ['', '/runs', `/runs/${run_id}`].map((path) =>
      path.startsWith('/runs/') ? `/api/automations${path}` : `/api/automations/${automation.automation_id}${path}`,
    );
    for (const path of [
      ...paths,
      '/api/automations',
      '/api/automations/dead-letter',
      '/api/automations/approvals',
      '/api/activity',
    ]) {
      await call(app.as(person).get(path));
    }
  }
  await useWebhook();
  const used = [...(await useRunner()), ...(await useBulk())];
  await readStore();
  await call(app.as(team.admin).get(`/api/automations/secrets?team_id=${team.team_id}`));
  await call(app.as(team.admin).delete(`/api/automations/secrets/CANARY?team_id=${team.team_id}`));

  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const { workflow } = new Client({ connection });
  const revocation = workflow.getHandle(revocationWorkflowId(await disconnectForge()));
  expect(await revocation.result()).toBe('revoked');
  const handle = workflow.getHandle(runWorkflowId(run_id));
  const others = await Promise.all(used.map((id) => workflow.getHandle(id).fetchHistory()));
  const history = toText([await handle.fetchHistory(), await handle.describe(), await revocation.fetchHistory(), ...others]);
  await connection.close();
  for (const words of ['http_request', 'revokeConnection', 'The code host returned 500', 'writeExport', 'importBatch'])
    expect(history).toContain(words); // it can be read at all
  expect(hits(history)).toEqual([]);
  expect((await dump()).flatMap(({ table, text }) => hits(text).map((hit) => `${table}: ${hit}`))).toEqual([]);
  expect(files.flatMap((text) => hits(text.replaceAll('""', '"')))).toEqual([]);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.flatMap(hits)).toEqual([]);
  await app.services.tracer?.stop();
  const spans = collector.spans();
  for (const name of ['http_request', 'send_webhook', 'forge_comment', 'webhook delivery', 'POST'])
    expect([name, spans.some((span) => span.name === name)]).toEqual([name, true]);
  expect(collector.received.flatMap(({ body }) => hits(body.replaceAll('\\"', '"')))).toEqual([]);
  expect(answers.flatMap(({ body, headers }) => hits(JSON.stringify([body, [...headers]]).replaceAll('\\"', '"')))).toEqual([]);
  // The sweep itself sees: what it looks for is found where it is.
  expect(hits(JSON.stringify(receiver.received).replaceAll('\\"', '"')).length).toBeGreaterThan(0);
}, 300_000);
