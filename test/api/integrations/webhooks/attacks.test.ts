/** What those may learn who may not know of an endpoint, and what disabling one could cost others. */
import { newId } from '../../../../api/platform/ids.js';
import { disableWebhook } from '../../../../api/integrations/webhooks/delivery/disable-webhook.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';
import { type Delivery, readEnded, QUICK, startDelivery, untilEmpty } from './support.js';

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
let delivery: Delivery | undefined;
beforeAll(async () => {
  app = await startApp(QUICK);
});
afterAll(() => app.close());
afterEach(async () => {
  await delivery?.stop();
  delivery = undefined;
  receiver.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
  team = await buildTeam(app);
});

/** A delivery that is due, written without the lock that the API takes. */
async function queueTest({ team_id }: TestTeam, { webhook_id }: { webhook_id: string }) {
  const event_id = newId();
  await app.services.db('webhook_events').insert({ event_id, team_id, event_type: 'webhook.test', body: '{}' });
  await app.services.db('webhook_queue').insert({ webhook_id, event_id, event_type: 'webhook.test' });
}

it('an endpoint that is disabled by itself is no news for guests', async () => {
  const { webhook_id } = await buildWebhook(app, team, 'https://intranet.example/hook');
  await disableWebhook(app.services, webhook_id, 'gone');
  const feed = await app.as(team.guest).get(`/api/activity?team_id=${team.team_id}`);
  expect([feed.status, JSON.stringify(feed.body)]).toEqual([200, expect.not.stringContaining('intranet')]);
  const [entry] = await app.services.db('audit_entries').where({ entity_id: webhook_id, action: 'toggle' });
  expect(JSON.parse(entry.details)).toMatchObject({ host: 'intranet.example', disabled_reason: 'gone' });
});

it('an endpoint that cannot be disabled yet holds up no outcome of others', async () => {
  const gone = await buildWebhook(app, team, `${receiver.url}/gone`);
  const stranger = await buildTeam(app);
  const other = await buildWebhook(app, stranger, `${receiver.url}/other`);
  receiver.answer(({ url }, response) => response.writeHead(url === '/gone' ? 410 : 200).end());
  const { db } = app.services;
  const isActive = async () => (await db('webhooks').where({ webhook_id: gone.webhook_id }).first()).is_active as boolean;
  await db.transaction(async (trx) => {
    await trx('webhooks').where({ webhook_id: gone.webhook_id }).forNoKeyUpdate();
    await queueTest(team, gone);
    delivery = startDelivery(app);
    await until(async () => receiver.received.length > 0);
    await queueTest(stranger, other);
    await untilEmpty(app, other);
    expect((await readEnded(app, other)).map(({ status }) => status)).toEqual(['succeeded']);
    expect(await isActive()).toBe(true);
  });
  await until(async () => !(await isActive()));
});

it('an endpoint that is enabled and disabled again and again mails its admins once an hour', async () => {
  const { webhook_id } = await buildWebhook(app, team, 'https://intranet.example/hook');
  const mails = async () => (await app.services.db('mails').where({ recipient: team.admin.email })).length;
  for (let n = 0; n < 3; n += 1) {
    await app.as(team.admin).patch(`/api/webhooks/${webhook_id}`, { is_active: true });
    await disableWebhook(app.services, webhook_id, 'gone');
  }
  expect(await mails()).toBe(1);
  expect(await app.services.db('notifications').where({ user_id: team.admin.user_id })).toHaveLength(3);
  await app.services
    .db('webhook_health')
    .where({ webhook_id })
    .update({ mailed_at: app.services.db.raw("now() - interval '2 hours'") });
  await app.as(team.admin).patch(`/api/webhooks/${webhook_id}`, { is_active: true });
  await disableWebhook(app.services, webhook_id, 'gone');
  expect(await mails()).toBe(2);
});
