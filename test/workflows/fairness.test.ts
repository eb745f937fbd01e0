import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { buildAutomation } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

let app: TestApp;
let worker: RunningWorker;
let receiver: Receiver;

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), OUTBOUND_LOOPBACK: 'allow' });
  receiver = await startReceiver();
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  receiver.close();
  await app.close();
});

/** Requests that are under way at a time (activities/worker/workers.ts). */
const SLOTS = 50;

it('a team whose receivers are slow does not stand in front of the requests of another', async () => {
  const [crowd, single] = [await buildTeam(app), await buildTeam(app)];
  const sends = (path: string) => [{ type: 'http_request', params: { method: 'POST', url: `${receiver.url}${path}` } }];
  await buildAutomation(app, crowd, { actions: sends('/slow') });
  await buildAutomation(app, single, { actions: sends('/quick') });
  const held: (() => void)[] = [];
  receiver.answer(({ url }, response) => {
    if (url === '/quick') response.end('ok');
    else {
      const answer = () => response.end('late');
      held.push(answer);
      // A request that was given up holds no slot any more.
      response.on('close', () => held.splice(0, held.length, ...held.filter((each) => each !== answer)));
    }
  });
  const [there, here] = [await buildProject(app, crowd), await buildProject(app, single)];
  // Every slot is taken, and three times as many requests wait for one.
  const items = Array.from({ length: 4 * SLOTS }, (_, nth) => ({ title: `No. ${nth}`, project_id: there.project_id }));
  expect((await app.as(crowd.member).post('/api/tasks/bulk', items)).body.failed).toBe(0);
  await until(async () => held.length === SLOTS, 60_000);
  const handedOver = async () => (await app.services.db('outbox').first()) === undefined;
  await until(handedOver, 60_000);
  await buildTask(app, single, here);
  await until(handedOver);
  const slow = () => receiver.received.filter(({ url }) => url === '/slow').length;
  const before = slow();
  // Slots become free one by one: the single request gets one of the first, though it came last.
  await until(async () => {
    held.shift()?.();
    await sleep(100);
    return receiver.received.some(({ url }) => url === '/quick');
  }, 120_000);
  // Fewer than those that waited before it; a machine so slow that the held ones are given up sends some of them again.
  expect(slow() - before).toBeLessThan(2 * SLOTS);
  receiver.answer((_request, response) => response.end('ok'));
  for (const answer of held.splice(0)) answer();
  await until(async () => (await app.services.db('automation_runs').whereNull('finished_at')).length === 0, 60_000);
}, 180_000);
