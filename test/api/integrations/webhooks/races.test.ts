/** Endpoints that are deleted, rotated, tested and replayed while their deliveries run: no request fails, and nothing is left behind. */
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildDelivery, buildWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';
import { QUICK, readQueue, startDelivery } from './support.js';

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp(QUICK, 60_000);
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  receiver.received.length = 0;
});

it('changes of endpoints during their deliveries never fail, and a deleted one leaves no queue', async () => {
  const project = await buildProject(app, team);
  const statuses: number[] = [];
  receiver.answer((_request, response) => response.writeHead(receiver.received.length % 3 === 0 ? 500 : 200).end());
  const hooks = await Promise.all(
    Array.from({ length: 20 }, (_one, n) => buildWebhook(app, team, `${receiver.url}/${n}`, { events: ['task.*'] })),
  );
  for (const { webhook_id } of hooks) for (let n = 0; n < 30; n += 1) await buildDelivery(app, team, webhook_id);
  const delivery = startDelivery(app);
  const other = startDelivery(app);
  const as = app.as(team.admin);
  const call = async (answer: Promise<{ status: number }>) => statuses.push((await answer).status);
  const range = { from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
  const writing = (async () => {
    for (let n = 0; n < 12; n += 1) {
      await buildTask(app, team, project);
      await delivery.fanOut();
    }
  })();
  await Promise.all([
    writing,
    ...hooks.map(async ({ webhook_id }) => {
      const path = `/api/webhooks/${webhook_id}`;
      await call(as.post(`${path}/replay`, range));
      await Promise.all([
        call(as.post(`${path}/test`)),
        call(as.post(`${path}/rotate-secret`)),
        call(as.patch(path, { is_active: false })),
      ]);
      await call(as.patch(path, { is_active: true }));
      await Promise.all([call(as.post(`${path}/replay`, range)), call(as.delete(path)), call(as.post(`${path}/test`))]);
    }),
  ]);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(await app.services.db('webhooks').where({ team_id: team.team_id })).toEqual([]);
  for (const hook of hooks) await until(async () => (await readQueue(app, hook)).length === 0);
  await delivery.stop();
  await other.stop();
});

it('deletes a part of a long queue at once, and the rest in batches by the workers', async () => {
  const { webhook_id } = await buildWebhook(app, team, 'https://hooks.example.com/');
  const { db } = app.services;
  await db.raw(
    `insert into webhook_queue (webhook_id, event_id, event_type, is_leased, next_attempt_at)
    select ?, uuidv7(), 'task.created', n % 100 = 0, now() + interval '1 hour' from generate_series(1, 4500) n`,
    [webhook_id],
  );
  expect((await app.as(team.admin).delete(`/api/webhooks/${webhook_id}`)).status).toBe(200);
  const left = await readQueue(app, { webhook_id });
  expect(left).toHaveLength(3_500);
  const workers = [startDelivery(app), startDelivery(app)];
  await db.transaction(async (trx) => {
    // A worker that records the outcome of one of them is not waited for.
    await trx('webhook_queue').where({ webhook_id, event_id: left[3_000].event_id }).forUpdate();
    await until(async () => (await readQueue(app, { webhook_id })).length === 1);
  });
  await until(async () => (await readQueue(app, { webhook_id })).length === 0);
  await Promise.all(workers.map(({ stop }) => stop()));
});

it('another team does not wait for a replay of 10,000 events', async () => {
  const busy = await buildWebhook(app, team, `${receiver.url}/replayed`);
  await app.services.db.raw(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, status, attempts)
    select ?, uuidv7(), 'task.created', 'failed', '[]' from generate_series(1, 10000)`,
    [busy.webhook_id],
  );
  await app.services.db.raw(
    `insert into webhook_events (event_id, team_id, event_type, body)
    select event_id, ?, event_type, '{}' from webhook_deliveries where webhook_id = ?`,
    [team.team_id, busy.webhook_id],
  );
  const delivery = startDelivery(app);
  receiver.answer((_request, response) => response.end());
  const range = { from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
  const replayed = await app.as(team.admin).post(`/api/webhooks/${busy.webhook_id}/replay`, range);
  expect(replayed.body).toEqual({ queued: 10_000 });
  await delivery.fanOut();
  await until(async () => receiver.received.length > 20);
  const stranger = await buildTeam(app);
  const other = await buildWebhook(app, stranger, `${receiver.url}/other`);
  for (let n = 0; n < 10; n += 1) await app.as(stranger.admin).post(`/api/webhooks/${other.webhook_id}/test`);
  await delivery.fanOut();
  await until(async () => receiver.received.filter(({ url }) => url === '/other').length === 10);
  const { count } = (await app.services.db('webhook_queue').where({ webhook_id: busy.webhook_id }).count().first()) as {
    count: string;
  };
  expect(Number(count)).toBeGreaterThan(2_000);
  await app.as(team.admin).delete(`/api/webhooks/${busy.webhook_id}`);
  await delivery.stop();
});

it('a team that is deleted during its deliveries receives nothing afterwards', async () => {
  const empty = await buildTeam(app);
  receiver.answer((_request, response) => response.writeHead(500).end());
  const hook = await buildWebhook(app, empty, receiver.url);
  for (let n = 0; n < 40; n += 1) await app.as(empty.admin).post(`/api/webhooks/${hook.webhook_id}/test`);
  const delivery = startDelivery(app, { WEBHOOK_RETRY_SECONDS: [0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5] });
  await until(async () => receiver.received.length > 0);
  const deleted = await app.as(empty.admin).delete(`/api/teams/${empty.team_id}`);
  expect(deleted.status).toBe(200);
  await until(async () => (await readQueue(app, hook)).length === 0);
  await delivery.stop();
  const told = receiver.received.length;
  const again = startDelivery(app);
  await again.fanOut();
  await again.stop();
  expect(receiver.received.length).toBe(told);
});
