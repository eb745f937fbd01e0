/** Words in what a program asks for and reports: they are in the request and in what answers a reader, and nowhere else. */
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { createLogger } from '../../api/platform/telemetry/log.js';
import { metrics } from '../../api/platform/telemetry/metrics.js';
import { requestWorkflowId } from '../../workflows/contracts/request-contract.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { about, OPERATION, type TestRequest } from '../factories/requests.js';
import { startApp, type TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { type MailServer, startMailServer } from '../support/mail-server.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

const WORD = 'canary-9d27';
/** Where a request is kept, and the answers that a caller may ask for again. */
const KEPT_IN = ['change_requests', 'idempotency_keys'];

const lines: string[] = [];
const sink = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});

let app: TestApp;
let worker: RunningWorker;
let mail: MailServer;
let receiver: Receiver;
let team: TestTeam;

beforeAll(async () => {
  mail = await startMailServer();
  receiver = await startReceiver();
  const outbound = { OUTBOUND_LOOPBACK: 'allow', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' };
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), LOG_LEVEL: 'trace', MAIL_URL: mail.url, ...outbound });
  Object.assign(app.services, { log: createLogger(app.services.config, 'worker', sink) });
  worker = await runWorker(app);
  team = await buildTeam(app);
  const hook = { team_id: team.team_id, url: receiver.url, events: ['*'] };
  expect((await app.as(team.admin).post('/api/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  await worker.stop();
  receiver.close();
  await mail.close();
  await app.close();
});

const db = () => app.services.db;
const operations = (version: string) => [
  { ...OPERATION, arguments: { [WORD]: { [WORD]: `${WORD} ${version}` } }, summary: `It does ${WORD}` },
];
const as = (who: 'member' | 'manager' | 'admin', request: TestRequest) => about(app.as(team[who]), request);

/** A request for what holds the word, made under a key, so that its answer is kept for a repetition. */
async function ask(fields: object = {}): Promise<TestRequest> {
  const body = { team_id: team.team_id, title: 'Release', operations: operations('1'), context: { [WORD]: WORD }, ...fields };
  const headers = { 'idempotency-key': randomUUID() };
  const { body: first } = await app.as(team.member).post('/api/change-requests', body, { headers });
  expect((await app.as(team.member).post('/api/change-requests', body, { headers })).body).toEqual(first);
  return first as TestRequest;
}

async function play(): Promise<TestRequest[]> {
  const report = { status: 'failed', exit_code: 1, output: WORD, details: { [WORD]: WORD } };
  const edited = await ask({ editable: [`/operations/0/arguments/${WORD}`], expires_in_seconds: 7_200 });
  expect((await as('manager', edited).edit({ operations: [{ ...operations('2')[0], name: WORD }] })).body).toMatchObject({
    reason: 'not_editable',
  });
  const next = (await as('manager', edited).edit({ operations: operations('2') })).body as TestRequest;
  expect((await as('admin', next).approve()).body).toMatchObject({ status: 'approved' });
  const used = await as('member', next).redeem();
  expect(JSON.stringify(used.body)).toContain(WORD);
  expect((await as('member', next).report(report)).status).toBe(200);
  const [rejected, cancelled, reminded] = [await ask(), await ask(), await ask({ expires_in_seconds: 7_200 })];
  const item = { kind: 'request', id: rejected.request_id, staged_hash: rejected.request_hash };
  const many = await app.as(team.manager).post('/api/approvals/decide', { decision: 'reject', items: [item] });
  expect(many.body.results).toMatchObject([{ status: 'rejected' }]);
  await as('member', cancelled).cancel();
  const move = (column: string) =>
    db()('change_requests')
      .where({ request_id: reminded.request_id })
      .update({ [column]: db().raw("now() - interval '1 second'") });
  await move('remind_at');
  const wake = () => as('manager', reminded).approve({ request_hash: `sha256:${'0f'.repeat(32)}` });
  expect((await wake()).status).toBe(409);
  return [edited, rejected, cancelled, reminded];
}

async function dump(): Promise<{ table: string; text: string }[]> {
  const { rows } = await db().raw<{ rows: { name: string }[] }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  const all: { table: string; text: string }[] = [];
  for (const { name } of rows) {
    const found = await db().raw<{ rows: { text: string }[] }>(`select t::text as text from "${name}" t`);
    all.push(...found.rows.map(({ text }) => ({ table: name, text })));
  }
  return all;
}

it('no argument, claim or output is in a history, a log line, an event, a webhook, a mail, a notification or the audit log', async () => {
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const { workflow } = new Client({ connection });
  const requests = await play();
  const [edited, , , reminded] = requests as [TestRequest, TestRequest, TestRequest, TestRequest];
  await workflow.getHandle(requestWorkflowId(edited.request_id)).result();
  await until(() =>
    workflow
      .getHandle(requestWorkflowId(reminded.request_id))
      .signal('decided')
      .then(() => db()('notifications').where({ request_id: reminded.request_id, kind: 'change_reminder' }).first())
      .catch((error: unknown) => {
        // The relay has not started it yet.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }),
  );
  const types = () => new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type));
  const told = ['created', 'approved', 'redeemed', 'finished', 'rejected', 'cancelled'].map((name) => `request.${name}`);
  await until(async () => told.every((type) => types().has(type)));
  await until(async () => mail.received.length > 0);
  await until(async () => (await db()('outbox')).length === 0);

  for (const { request_id } of requests) {
    const kept = await readKept(workflow.getHandle(requestWorkflowId(request_id)));
    expect(kept).toContain('settleRequest');
    expect(kept).not.toContain(WORD);
  }
  await connection.close();
  expect(receiver.received.filter(({ body, headers }) => JSON.stringify([body, headers]).includes(WORD))).toEqual([]);
  // Mails break their lines and encode them.
  expect(mail.received.filter(({ message }) => message.replaceAll('=\r\n', '').includes(WORD))).toEqual([]);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.includes(WORD))).toEqual([]);
  expect(await metrics.metrics()).not.toContain(WORD);
  const found = (await dump()).filter(({ text }) => text.includes(WORD)).map(({ table }) => table);
  // The sweep itself sees: the word is where it belongs.
  expect(found).toContain('change_requests');
  expect([...new Set(found)].filter((table) => !KEPT_IN.includes(table))).toEqual([]);
}, 120_000);
