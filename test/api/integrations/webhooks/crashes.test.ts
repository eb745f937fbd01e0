/** Workers that are killed, endpoints that are deleted between two attempts, names that lead elsewhere: nothing is lost, and no id doubles. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { WebhookDispatcher } from '../../../../api/integrations/webhooks/delivery/dispatcher.js';
import { webhookPolicy } from '../../../../api/integrations/webhooks/policy.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildWebhook, type TestWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';
import { readEnded, fanOut, summarizeHealth, getId, QUICK, readQueue, startDelivery, untilEmpty } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp({ ...QUICK, TASK_QUEUE_PREFIX: queuePrefix() });
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
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
const hook = (url = receiver.url) => buildWebhook(app, team, url, { events: ['task.created'] });
const kill = async (worker: ChildProcess) => {
  worker.kill('SIGKILL');
  await once(worker, 'exit');
};

it('kill -9 between a request and the record of its outcome: sent again under the same id', async () => {
  const webhook = await hook();
  // The first worker never gets an answer.
  receiver.answer(() => undefined);
  const worker = await startWorkerProcess(app, QUICK);
  await create();
  await create();
  // On a slow machine one may be tried twice before the other is sent.
  await until(async () => new Set(receiver.received.map(getId)).size >= 2);
  await kill(worker);
  const ids = new Set(receiver.received.map(getId));
  expect(await readQueue(app, webhook)).toHaveLength(2);
  receiver.answer((_request, response) => response.end('ok'));
  const next = startDelivery(app);
  await untilEmpty(app, webhook);
  await next.stop();
  expect(receiver.received.length).toBeGreaterThanOrEqual(4);
  expect(new Set(receiver.received.map(getId))).toEqual(ids);
  expect((await readEnded(app, webhook)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
});

it('two worker processes killed in turn during fan-out and delivery: every change arrives, no id stands for two', async () => {
  const webhook = await hook();
  receiver.answer((_request, response) => setTimeout(() => response.end('ok'), 20));
  const created: string[] = [];
  let stopped = false;
  const writing = (async () => {
    while (!stopped) created.push((await create()).task_id);
  })();
  for (let round = 0; round < 2; round += 1) {
    const before = receiver.received.length;
    const workers = await Promise.all([startWorkerProcess(app, QUICK), startWorkerProcess(app, QUICK)]);
    await until(async () => receiver.received.length > before + 5);
    await Promise.all(workers.map(kill));
  }
  stopped = true;
  await writing;
  const last = startDelivery(app);
  await until(async () => {
    await db()('outbox').where({ kind: 'event' }).update({ next_attempt_at: db().fn.now() });
    await last.fanOut();
    return (await db()('outbox').where({ kind: 'event' })).length === 0;
  });
  await untilEmpty(app, webhook);
  await last.stop();
  const entities = new Map(
    receiver.received.map((request) => [getId(request), JSON.parse(request.body).data.entity_id as string]),
  );
  expect([...entities.values()].toSorted()).toEqual(created.toSorted());
});

it('an endpoint that is deleted between two attempts receives nothing more, and the others everything', async () => {
  const webhook = await hook(`${receiver.url}/deleted`);
  const other = await hook(`${receiver.url}/other`);
  let deleted = 0;
  receiver.answer(({ url }, response) => {
    if (url !== '/deleted') return void response.end();
    void db()('webhooks')
      .where({ webhook_id: webhook.webhook_id })
      .delete()
      .then(() => {
        deleted += 1;
        response.writeHead(500).end();
      });
  });
  await create();
  const delivery = startDelivery(app);
  await delivery.fanOut();
  await until(async () => deleted > 0);
  await untilEmpty(app, other);
  await create();
  await delivery.fanOut();
  await until(async () => receiver.received.filter(({ url }) => url === '/other').length === 2);
  await delivery.stop();
  expect(receiver.received.filter(({ url }) => url === '/deleted')).toHaveLength(1);
  expect(await readQueue(app, webhook)).toEqual([]);
  expect(await readEnded(app, webhook)).toEqual([]);
});

/** One pass of a dispatcher whose name server tells this. */
async function deliverWith(webhook: TestWebhook, addresses: string[]) {
  const config = { ...app.services.config, WEBHOOK_ALLOWED_HOSTS: ['10.9.8.7'], NODE_ENV: 'production' as const };
  const policy = { ...webhookPolicy(config), resolve: async () => addresses.map((address) => ({ address, family: 4 })) };
  const dispatcher = new WebhookDispatcher({ ...app.services, config }, () => undefined, policy);
  dispatcher.add([webhook]);
  await dispatcher.pass();
  await dispatcher.drain(10_000);
  return (await readQueue(app, webhook)).flatMap(({ attempts }) => attempts).at(-1);
}

const REFUSED = [['127.0.0.1'], ['10.0.0.1'], ['169.254.169.254'], ['93.184.216.34', '192.168.0.1'], ['0.0.0.0'], []];
it.each(REFUSED.map((addresses) => [addresses]))(
  'a name that leads to %j by the time of the connection is refused, in the same words',
  async (addresses) => {
    const { port } = new URL(receiver.url);
    const webhook = await hook(`https://hooks.example.com:${port === '' ? 443 : 8443}/`);
    await create();
    await fanOut(app);
    expect(await deliverWith(webhook, addresses)).toMatchObject({
      status_code: null,
      error: 'The host was not found, or its address is not allowed',
    });
    expect(receiver.received).toEqual([]);
  },
);

it('a secret that no master key opens costs no attempt, and is told to the operator only', async () => {
  const webhook = await hook();
  await db()('webhooks')
    .where({ webhook_id: webhook.webhook_id })
    .update({ sealed_value: Buffer.alloc(60, 7) });
  await create();
  const delivery = startDelivery(app);
  await delivery.fanOut();
  await until(async () => (await readQueue(app, webhook))[0]?.next_attempt_at > new Date(Date.now() + 30_000));
  await delivery.stop();
  expect(await readQueue(app, webhook)).toMatchObject([{ tries: 0, attempts: [], is_leased: false }]);
  expect(await summarizeHealth(app, webhook)).toMatchObject({ failure_count: 0, last_failure_at: null });
  expect(receiver.received).toEqual([]);
});
