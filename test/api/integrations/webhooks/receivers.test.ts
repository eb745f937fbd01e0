/** Receivers that hang, drip, redirect, flood, break off and refuse: each costs itself only, and nothing is lost. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { mailsTo } from '../../../factories/accounts.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildWebhook, type TestWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';
import {
  type Delivery,
  readEnded,
  fanOut,
  summarizeHealth,
  getId,
  QUICK,
  readQueue,
  startDelivery,
  untilEmpty,
} from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let receiver: Receiver;
let delivery: Delivery;
beforeAll(async () => {
  app = await startApp(QUICK);
  receiver = await startReceiver();
  delivery = startDelivery(app);
});
afterAll(async () => {
  receiver.close();
  await delivery.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  receiver.received.length = 0;
  receiver.answer((_request, response) => response.end('ok'));
});
const db = () => app.services.db;
const create = () => buildTask(app, team, project);
const hook = (url = receiver.url, fields = {}) => buildWebhook(app, team, url, { events: ['task.created'], ...fields });
const findAttempts = async (webhook: TestWebhook) => [
  ...(await readQueue(app, webhook)).flatMap(({ attempts }) => attempts),
  ...(await readEnded(app, webhook)).flatMap(({ attempts }) => attempts),
];
/** The endpoint has had this many attempts. */
const untilTried = (webhook: TestWebhook, times: number) =>
  until(async () => {
    const attempts = await findAttempts(webhook);
    return attempts.length >= times && attempts;
  });

/** A server that does something with each bare connection. */
async function startRaw(handle: (socket: Socket) => void): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
    handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

it('500 at every attempt: eight by the timetable under one id, then failed', async () => {
  const webhook = await hook();
  receiver.answer((_request, response) => response.writeHead(500).end('x'.repeat(5_000)));
  await create();
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  expect(receiver.received).toHaveLength(8);
  expect(new Set(receiver.received.map(getId)).size).toBe(1);
  const [ended] = await readEnded(app, webhook);
  expect(ended).toMatchObject({ status: 'failed', event_type: 'task.created' });
  expect(ended.attempts).toHaveLength(8);
  for (const attempt of ended.attempts)
    expect(attempt).toEqual({
      at: expect.stringMatching(/Z$/),
      status_code: 500,
      duration_ms: expect.any(Number),
      error: 'The receiver returned 500',
      response: 'x'.repeat(1_000),
    });
  expect(await summarizeHealth(app, webhook)).toMatchObject({
    failure_count: 8,
    failing_since: expect.any(Date),
    last_success_at: null,
  });
  expect((await db()('webhooks').where({ webhook_id: webhook.webhook_id }).first()).is_active).toBe(true);
});

it.each([[301], [302], [307], [304], [400], [404]])(
  '%i is a failure that is tried again, and no redirect is followed',
  async (status) => {
    const webhook = await hook();
    receiver.answer((_request, response) =>
      receiver.received.length === 1
        ? response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end()
        : response.end(),
    );
    await create();
    await delivery.fanOut();
    await untilEmpty(app, webhook);
    expect(receiver.received.map(({ url }) => url)).toEqual(['/', '/']);
    expect((await readEnded(app, webhook))[0]).toMatchObject({
      status: 'succeeded',
      attempts: [{ status_code: status }, { status_code: 200 }],
    });
  },
);

it('a hanging receiver, and one that drips, cost one time-out an attempt', async () => {
  const hangs = await startRaw(() => undefined);
  const drips = await startRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 50);
    socket.on('close', () => clearInterval(timer));
  });
  const webhooks = [await hook(hangs.url), await hook(drips.url)];
  await create();
  await delivery.fanOut();
  for (const webhook of webhooks) {
    const [first] = await untilTried(webhook, 1);
    expect(first).toMatchObject({ status_code: null, error: 'Request timed out', response: null });
    await db()('webhooks').where({ webhook_id: webhook.webhook_id }).delete();
  }
  hangs.close();
  drips.close();
});

it.each<[string, (socket: Socket) => void, object]>([
  ['closes early', (socket) => socket.destroy(), { status_code: null, error: 'Connection failed' }],
  ['closes within its answer', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nx'), { status_code: null }],
  ['speaks no HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n'), { status_code: null }],
])('a receiver that %s has not received it', async (_what, handle, record) => {
  const raw = await startRaw(handle);
  const webhook = await hook(raw.url);
  await create();
  await delivery.fanOut();
  expect((await untilTried(webhook, 1))[0]).toMatchObject(record);
  await db()('webhooks').where({ webhook_id: webhook.webhook_id }).delete();
  raw.close();
});

it('reads only the beginning of a response of a gigabyte', async () => {
  let written = 0;
  const flood = await startRaw((socket) => {
    const chunk = Buffer.alloc(65_536, 'a');
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 ** 30}\r\n\r\n`);
    const pump = () => {
      while (!socket.destroyed && written < 2 ** 30) {
        written += chunk.length;
        if (!socket.write(chunk)) return void socket.once('drain', pump);
      }
    };
    pump();
  });
  const webhook = await hook(flood.url);
  await create();
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  const [{ status, attempts }] = await readEnded(app, webhook);
  expect({ status, length: attempts[0].response.length }).toEqual({ status: 'succeeded', length: 1_000 });
  expect(written).toBeLessThan(2 ** 26);
  flood.close();
});

it.each([
  ['seconds', () => '3600', 3_600],
  ['a date', () => new Date(Date.now() + 7_200_000).toUTCString(), 7_200],
  ['more than a day', () => '999999', 86_400],
  ['nonsense', () => 'soon', 0],
])('Retry-After as %s', async (_what, header, seconds) => {
  const webhook = await hook();
  receiver.answer((_request, response) =>
    response.writeHead(receiver.received.length === 1 ? 503 : 200, { 'retry-after': header() }).end(),
  );
  await create();
  await delivery.fanOut();
  if (seconds === 0) return untilEmpty(app, webhook).then(() => undefined);
  await untilTried(webhook, 1);
  const [row] = await readQueue(app, webhook);
  const wait = (row.next_attempt_at.getTime() - new Date(row.attempts[0].at).getTime()) / 1_000;
  expect(Math.abs(wait - seconds)).toBeLessThan(30);
  expect(receiver.received).toHaveLength(1);
  return undefined;
});

it('410: failed at once, the endpoint is disabled, its admins and the other endpoints are told', async () => {
  const gone = await hook(`${receiver.url}/gone?token=hidden`);
  const other = await hook(`${receiver.url}/other`, { events: ['webhook.disabled'] });
  receiver.answer(({ url }, response) => response.writeHead(url?.startsWith('/gone') ? 410 : 200).end());
  await create();
  await delivery.fanOut();
  await until(
    async () =>
      (await db()('webhooks').where({ webhook_id: gone.webhook_id, disabled_reason: 'gone', is_active: false })).length === 1,
  );
  expect(await readEnded(app, gone)).toMatchObject([{ status: 'failed', attempts: [{ status_code: 410 }] }]);
  await delivery.fanOut();
  await untilEmpty(app, other);
  const told = receiver.received.find(({ url }) => url === '/other');
  expect(JSON.parse(told?.body ?? '')).toMatchObject({
    type: 'webhook.disabled',
    data: {
      team_id: team.team_id,
      entity_type: 'webhook',
      entity_id: gone.webhook_id,
      object: { host: new URL(receiver.url).host, disabled_reason: 'gone' },
    },
  });
  expect(told?.body).not.toContain('hidden');
  const mails = await mailsTo(app, team.admin);
  expect(mails).toHaveLength(1);
  expect(mails[0]?.text).toContain(`/app/teams/${team.team_id}/webhooks/${gone.webhook_id}`);
  expect(await db()('notifications').where({ user_id: team.admin.user_id })).toMatchObject([
    { message: expect.stringMatching(/no longer receives/) },
  ]);
  expect(await db()('mails').where({ recipient: team.manager.email })).toEqual([]);
});

it('after days of failures only, the endpoint is disabled and what waits ends as failed', async () => {
  const webhook = await hook();
  receiver.answer((_request, response) => response.writeHead(500, { 'retry-after': '3600' }).end());
  await create();
  await create();
  await db()('webhook_health')
    .where({ webhook_id: webhook.webhook_id })
    .update({ failing_since: db().raw("now() - interval '6 days'"), failure_count: 3 });
  await delivery.fanOut();
  await until(
    async () => (await db()('webhooks').where({ webhook_id: webhook.webhook_id, disabled_reason: 'failing' })).length === 1,
  );
  await untilEmpty(app, webhook);
  expect(await readEnded(app, webhook)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
});

it('an endpoint receives at most ten requests at once, of two workers, and all of them in the end', async () => {
  const webhook = await hook(receiver.url, { events: ['task.*'] });
  let open = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  receiver.answer((_request, response) => {
    open += 1;
    most = Math.max(most, open);
    waiting.push(() => {
      open -= 1;
      response.end();
    });
  });
  // Requests wait for answers here, and must not time out.
  await delivery.stop();
  delivery = startDelivery(app, { WEBHOOK_TIMEOUT_SECONDS: 60 });
  const second = startDelivery(app, { WEBHOOK_TIMEOUT_SECONDS: 60 });
  for (let n = 0; n < 35; n += 1) await create();
  await Promise.all([fanOut(app), fanOut(app)]);
  await Promise.all([delivery.fanOut(), second.fanOut()]);
  await until(async () => open === 10);
  const answering = setInterval(() => waiting.shift()?.(), 5);
  await untilEmpty(app, webhook);
  clearInterval(answering);
  await second.stop();
  await delivery.stop();
  delivery = startDelivery(app);
  expect(most).toBe(10);
  expect(receiver.received).toHaveLength(35);
  expect(new Set(receiver.received.map(getId)).size).toBe(35);
});

it('a failing endpoint gets one request at a time, and everything once it answers again', async () => {
  const webhook = await hook();
  let open = 0;
  let most = 0;
  let isDead = true;
  await db()('webhook_health')
    .where({ webhook_id: webhook.webhook_id })
    .update({ failure_count: 5, last_failure_at: db().raw("now() - interval '1 day'") });
  receiver.answer((_request, response) => {
    if (!isDead) return void response.end();
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.writeHead(500).end();
    }, 30);
  });
  for (let n = 0; n < 15; n += 1) await create();
  await delivery.fanOut();
  await until(async () => receiver.received.length >= 4);
  expect(most).toBe(1);
  isDead = false;
  await untilEmpty(app, webhook);
  expect((await readEnded(app, webhook)).map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => 'succeeded'));
  expect(await summarizeHealth(app, webhook)).toMatchObject({ failure_count: 0, failing_since: null });
});

it('endpoints that hang hold up neither others of their team nor other teams', async () => {
  const raw = await startRaw(() => undefined);
  const dead = await Promise.all(Array.from({ length: 8 }, () => hook(raw.url)));
  const healthy = await hook(`${receiver.url}/same-team`);
  const stranger = await buildTeam(app);
  const other = await buildWebhook(app, stranger, `${receiver.url}/other-team`);
  for (let n = 0; n < 12; n += 1) await create();
  await buildTask(app, stranger, await buildProject(app, stranger));
  await delivery.fanOut();
  await untilEmpty(app, healthy);
  await untilEmpty(app, other);
  // The dead ones are still at their first attempts.
  expect(await readEnded(app, dead[0]!)).toEqual([]);
  expect((await readQueue(app, dead[0]!)).length).toBe(12);
  await db()('webhooks')
    .whereIn(
      'webhook_id',
      dead.map(({ webhook_id }) => webhook_id),
    )
    .delete();
  raw.close();
});
