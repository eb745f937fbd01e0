import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';
import { AssentError, createClient, verifyWebhook, WebhookVerificationError } from '../clients/typescript/index.js';
import type { VerifyOptions } from '../clients/typescript/webhooks.js';
import { FORMER_NAMES, OPERATIONS } from '../clients/typescript/operations.js';
import { retryAfterMs } from '../clients/typescript/retry.js';
import { signatureHeaders } from '../api/integrations/webhooks/delivery/signature.js';
import { newWebhookSecret } from '../api/integrations/webhooks/secret.js';
import { buildTeam } from './factories/people.js';
import { startApp, type TestApp } from './support/app.js';

// The package @assent/client against the running service, from inside and as a stranger installs it.

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const packageDir = join(root, 'clients', 'typescript');
const versionIn = (dir: string) => (JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string }).version;

let app: TestApp;
let team: Awaited<ReturnType<typeof buildTeam>>;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

it('is made from the document as it is now; if not: npm run client', () => {
  const digest = createHash('sha256')
    .update(JSON.stringify(createOpenApi(ENDPOINTS)))
    .digest('hex');
  for (const file of ['schema.d.ts', 'operations.ts']) {
    expect([file, readFileSync(join(packageDir, file), 'utf8').split('\n', 1)[0]]).toEqual([
      file,
      expect.stringContaining(digest),
    ]);
  }
  expect(Object.keys(OPERATIONS)).toEqual(ENDPOINTS.map(({ id }) => id));
  expect(versionIn(packageDir)).toBe(versionIn(root));
});

const newClient = (fetch = globalThis.fetch) =>
  createClient({ baseUrl: app.url, token: team.member.token, fetch, maxRetryDelayMs: 5000 });

it('writes, reads, iterates over pages and throws typed errors', async () => {
  const assent = newClient();
  const { data: project } = await assent.createProject({ body: { name: 'Apollo', team_id: team.team_id } });
  const { project_id } = project;
  const { data: task } = await assent.createTask({ body: { title: 'Count down', project_id, priority: 'high' } });
  const path = { task_id: task.task_id };
  await assent.updateTask({ path, body: { status: 'done' }, ifMatch: '"1"' });
  expect(await assent.getTask({ path })).toMatchObject({ status: 'done', version: 2, subtasks: [] });

  const stale = await assent.updateTask({ path, body: { title: 'Late', version: 1 } }).catch((error: unknown) => error);
  expect(stale).toBeInstanceOf(AssentError);
  expect(stale).toMatchObject({ status: 409, errorCode: 'RESOURCE_CONFLICT', correlationId: expect.any(String) });
  const empty = await assent.createTask({ body: { title: '', project_id } }).catch((error: unknown) => error);
  expect(empty).toMatchObject({ errorCode: 'VALIDATION_ERROR', fields: [{ field: 'body.title' }] });

  const seen: string[] = [];
  for await (const entry of assent.iterate('listActivity', { query: { team_id: team.team_id, limit: 1 } }))
    seen.push(entry.action);
  expect(seen.length).toBeGreaterThan(2);
  // A key that no field has: the filter arrives, and nothing matches it.
  expect(await assent.listTasks({ query: { project_id, custom_field: { nothing: 'x' } } })).toEqual([]);
  const { data, response } = await assent.request('listTasks', { query: { project_id } });
  expect(data).toHaveLength(1);
  expect(response.headers.get('ETag')).toMatch(/^W\/"/);
});

it('iterates over lists that hold their rows in a field', async () => {
  await app.services.db('teams').where({ team_id: team.team_id }).update({ plan: 'scale' });
  const admin = createClient({ baseUrl: app.url, token: team.admin.token });
  for (const name of ['One', 'Two', 'Three']) await admin.createProject({ body: { name, team_id: team.team_id } });
  const query = { team_id: team.team_id, feature: 'project', limit: 1 };
  const seen: string[] = [];
  for await (const { audit_id } of admin.iterate('listAuditEntries', { query })) seen.push(audit_id);
  const { entries } = await admin.listAuditEntries({ query: { ...query, limit: 500 } });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen).toEqual(entries.map(({ audit_id }) => audit_id));
  for await (const { automation_name } of admin.iterate('listApprovals')) expect(automation_name).toBe('none waits');
  const titles: string[] = [];
  const project_id = (await admin.listProjects({ query: { team_id: team.team_id } }))[0]?.project_id as string;
  for (const title of ['a', 'b', 'c']) await admin.createTask({ body: { title, project_id, tags: ['paged'] } });
  for await (const { title } of admin.iterate('listTasks', { query: { tag: 'paged', limit: 2 } })) titles.push(title);
  expect(titles).toEqual(['a', 'b', 'c']);
});

it('keeps earlier names of operations', async () => {
  const admin = createClient({ baseUrl: app.url, token: team.admin.token });
  expect(await admin.getWebhookStatus()).toEqual(await admin.getForgeStatus());
  const query = { team_id: team.team_id };
  expect(await admin.listDeliveries({ query })).toEqual(await admin.listForgeDeliveries({ query }));
  expect(Object.keys(FORMER_NAMES).filter((name) => name in OPERATIONS)).toEqual([]);
});

describe('verifyWebhook', () => {
  const secret = newWebhookSecret();
  const body = '{"type":"task.created","data":{"title":"Grüße"}}';
  const id = '0197a000-1000-7000-8000-000000000001';
  const sign = (secrets: string[], seconds = Math.floor(Date.now() / 1000)) =>
    signatureHeaders(secrets, id, body, seconds * 1000);

  it('takes what the service has signed, as text or bytes, by any of several secrets', async () => {
    const expected = JSON.parse(body) as object;
    expect(await verifyWebhook(body, sign([secret]), { secret })).toEqual(expected);
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(bytes, new Headers(sign([newWebhookSecret(), secret])), { secret })).toEqual(expected);
    expect(await verifyWebhook(body, sign([secret]), { secret: [newWebhookSecret(), secret] })).toEqual(expected);
    const upper = Object.fromEntries(Object.entries(sign([secret])).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(await verifyWebhook(body, upper, { secret })).toEqual(expected);
  });

  it('refuses everything else', async () => {
    const headers = sign([secret]);
    const now = Math.floor(Date.now() / 1000);
    const refused: [string, Record<string, string | undefined>, VerifyOptions][] = [
      [`${body} `, headers, { secret }],
      [body, { ...headers, 'webhook-id': 'other' }, { secret }],
      [body, { ...headers, 'webhook-timestamp': String(now + 1) }, { secret }],
      [body, { ...headers, 'webhook-timestamp': 'now' }, { secret }],
      [body, { ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1,', 'v2,') }, { secret }],
      [body, { ...headers, 'webhook-signature': 'v1, v1,! v1' }, { secret }],
      [body, { ...headers, 'webhook-signature': undefined }, { secret }],
      [body, headers, { secret: newWebhookSecret() }],
      [body, sign([secret], now - 301), { secret, now: now * 1000 }],
      [body, sign([secret], now + 301), { secret, now: now * 1000 }],
      [body, sign([secret], now - 11), { secret, toleranceSeconds: 10, now: now * 1000 }],
    ];
    for (const [text, given, options] of refused) {
      await expect(verifyWebhook(text, given, options)).rejects.toBeInstanceOf(WebhookVerificationError);
    }
    expect(await verifyWebhook(body, sign([secret], now - 299), { secret, now: now * 1000 })).toBeDefined();
    for (const other of ['', 'whsec_', 'secret', 'whsec_!']) {
      await expect(verifyWebhook(body, headers, { secret: other })).rejects.toBeInstanceOf(TypeError);
    }
  });
});

it('uploads a file and downloads it as it was', async () => {
  const assent = newClient();
  const bytes = new Uint8Array([0, 255, 13, 10, 45, 45]);
  const file = await assent.uploadFile({ body: { team_id: team.team_id, file: new File([bytes], 'raw.bin') } });
  expect(file).toMatchObject({ name: 'raw.bin', size: 6, content_type: 'application/octet-stream' });
  const path = { file_id: file.file_id };
  expect(new Uint8Array(await (await assent.downloadFile({ path })).arrayBuffer())).toEqual(bytes);
  const { data, response } = await assent.request('downloadFile', { path, headers: { Range: 'bytes=1-2' } });
  expect([response.status, new Uint8Array(await data.arrayBuffer())]).toEqual([206, bytes.slice(1, 3)]);
});

it('sends the bytes of an import as they are', async () => {
  const assent = createClient({ baseUrl: app.url, token: team.manager.token });
  const sent = await assent.uploadBulkInput({ query: { team_id: team.team_id }, body: new Blob(['{}\n']) });
  expect(sent).toMatchObject({ size: 3, file_id: expect.any(String) });
});

it('repeats a write whose response was lost under the same key, so that it happens once', async () => {
  let lost = 0;
  const replayed: (string | null)[] = [];
  const assent = newClient(async (...args) => {
    const response = await fetch(...args);
    replayed.push(response.headers.get('Idempotency-Replayed'));
    if (response.status === 201 && lost++ === 0) throw new TypeError('connection reset');
    return response;
  });
  const { data } = await assent.createProject({ body: { name: 'Once', team_id: team.team_id } });
  expect(replayed).toEqual([null, 'true']);
  const projects = await newClient().listProjects({ query: { team_id: team.team_id } });
  expect(projects.filter(({ name }) => name === 'Once')).toEqual([expect.objectContaining({ project_id: data.project_id })]);

  lost = 0;
  let attempts = 0;
  const unsure = newClient(() => {
    attempts++;
    return Promise.reject(new TypeError('connection reset'));
  });
  await expect(unsure.deleteProject({ path: { project_id: data.project_id } })).rejects.toThrow('connection reset');
  expect(attempts).toBe(1); // a DELETE takes no key: only its caller knows whether to repeat it
});

it('waits as long as Retry-After says, and not longer than its limit', async () => {
  const waits: number[] = [];
  let last = 0;
  const limitedFor = (seconds: string) => {
    let isFirst = true;
    return newClient(async (...args) => {
      if (!isFirst) waits.push(performance.now() - last);
      last = performance.now();
      const answer = isFirst ? new Response('{}', { status: 429, headers: { 'Retry-After': seconds } }) : await fetch(...args);
      isFirst = false;
      return answer;
    });
  };
  expect(await limitedFor('1').getMe()).toMatchObject({ user_id: team.member.user_id });
  expect(waits).toEqual([expect.any(Number)]);
  expect(waits[0]).toBeGreaterThan(990);
  await expect(limitedFor('6').getMe()).rejects.toMatchObject({ status: 429, errorCode: undefined });
  expect(waits).toHaveLength(1);
  expect(retryAfterMs('Fri, 20 Nov 2026 17:51:02 GMT', Date.parse('2026-11-20T17:51:00Z'))).toBe(2000);
  expect([retryAfterMs(null), retryAfterMs('soon')]).toEqual([undefined, undefined]);
});

const CONSUMER = `
import { readFileSync } from 'node:fs';
import { AssentError, createClient, type Action, type TriggerType } from '@assent/client';
import { verifyReceipt } from '@assent/client/receipts';

const assent = createClient({ baseUrl: process.argv[2] as string, token: process.argv[3] as string });
const { teams } = await assent.getMe();
const team_id = teams[0]?.team_id as string;
const trigger_type: TriggerType = 'task.created';
const actions: Action[] = [
  { type: 'add_comment', params: { content: 'Seen' } },
  { type: 'update_task', params: { task_id: '{{event.task.task_id}}', priority: '{{event.task.priority}}' } },
];
// @ts-expect-error a status that does not exist
actions.push({ type: 'set_task_status', params: { status: 'finished' } });
actions.pop();
// @ts-expect-error a parameter is missing
() => assent.getTask();
// @ts-expect-error nothing to iterate over
() => assent.iterate('getTask', { path: { task_id: 'x' } });
() => assent.putTask({ path: { task_id: 'x' }, body: {} });
async () => {
  for await (const { action } of assent.iterate('listAuditEntries')) action.toUpperCase();
};
const automation = await assent.createAutomation({ body: { name: 'From outside', team_id, trigger_type, actions } });
const names: string[] = [];
for await (const { name } of assent.iterate('listAutomations', { query: { team_id } })) names.push(name);
const code = await assent.getTask({ path: { task_id: 'none' } }).catch((error: unknown) => error instanceof AssentError && error.errorCode);
const { options, cases } = JSON.parse(readFileSync(process.argv[4] as string, 'utf8'));
const { receipt, operation_text } = cases[0].calls[0];
const given = { ...options, now: options.now * 1_000, firstUse: () => true };
const operation = await verifyReceipt(receipt, JSON.parse(operation_text), given);
console.log(JSON.stringify({ names, code, version: automation.version, operation: operation.name }));
`;

it('installs from its tarball into an empty folder, without network, and works there', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'assent-consumer-'));
  const npm = (args: string[], cwd: string) => run('npm', args, { cwd, shell: process.platform === 'win32' });
  try {
    await npm(['pack', '--ignore-scripts=false', '--pack-destination', dir], packageDir);
    const [tarball = ''] = readdirSync(dir);
    expect(tarball).toBe(`assent-client-${versionIn(root)}.tgz`);
    writeFileSync(join(dir, 'package.json'), '{"private": true, "type": "module"}');
    await npm(['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], dir);
    expect(readdirSync(join(dir, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@assent']);

    writeFileSync(join(dir, 'consumer.ts'), CONSUMER);
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
    const types = ['--typeRoots', join(root, 'node_modules', '@types'), '--types', 'node'];
    const checks = ['--strict', '--target', 'es2023', '--module', 'node20', ...types];
    const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/guide/receipts.md'), 'utf8')) ?? [];
    writeFileSync(join(dir, 'guide.ts'), `${example}export { refund };\n`);
    await run(process.execPath, [tsc, ...checks, 'consumer.ts', 'guide.ts'], { cwd: dir }).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
    const cases = join(root, 'clients', 'receipt-cases.json');
    const { stdout } = await run(process.execPath, ['consumer.js', app.url, team.member.token, cases], { cwd: dir });
    expect(JSON.parse(stdout)).toEqual({
      names: ['From outside'],
      code: 'RESOURCE_NOT_FOUND',
      version: 1,
      operation: 'refund',
    });
    const audit = join(root, 'docs', 'audit-example');
    const bin = join(dir, 'node_modules', '.bin', 'client');
    const verified = await run(bin, ['verify-export', join(audit, 'export.json'), '--keys', audit]);
    expect(verified.stdout).toContain('export intact: 3 entries of 1 team');
    const help = await run(join(dir, 'node_modules', '.bin', 'assent-runner'), ['--help']);
    expect(help.stdout).toContain('assent-runner register --url URL');
    const assent = join(dir, 'node_modules', '.bin', 'assent');
    expect((await run(assent, ['help'])).stdout).toContain('ask for approval of a command, wait, and run it');
    const wrong = await run(assent, ['verify-exprt']).catch((error: unknown) => error);
    expect(wrong).toMatchObject({ code: 64, stderr: expect.stringContaining('Did you mean verify-export?') });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
