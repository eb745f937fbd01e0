import { TeamSlots } from '../../activities/team-slots.js';
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

it('a team whose receivers hang leaves slots for the requests of another', async () => {
  const [crowd, single] = [await buildTeam(app), await buildTeam(app)];
  const sends = (path: string) => [{ type: 'http_request', params: { method: 'POST', url: `${receiver.url}${path}` } }];
  await buildAutomation(app, crowd, { actions: sends('/slow') });
  await buildAutomation(app, single, { actions: sends('/quick') });
  const held = new Set<() => void>();
  let most = 0;
  receiver.answer(({ url }, response) => {
    if (url === '/quick') return void response.end('ok');
    const answer = () => response.end('late');
    held.add(answer);
    most = Math.max(most, held.size);
    // A request that was given up holds no slot any more.
    response.on('close', () => held.delete(answer));
  });
  const [there, here] = [await buildProject(app, crowd), await buildProject(app, single)];
  const items = Array.from({ length: SLOTS }, (_, nth) => ({ title: `No. ${nth}`, project_id: there.project_id }));
  expect((await app.as(crowd.member).post('/api/tasks/bulk', items)).body.failed).toBe(0);
  await until(async () => receiver.received.length >= SLOTS / 2, 60_000);
  await buildTask(app, single, here);
  await until(async () => receiver.received.some(({ url }) => url === '/quick'), 60_000);
  receiver.answer((_request, response) => response.end('ok'));
  for (const answer of held) answer();
  // Nothing is lost: what found no slot asks again.
  await until(async () => (await app.services.db('automation_runs').whereNull('finished_at')).length === 0, 60_000);
  expect(await app.services.db('automation_runs')).toHaveLength(SLOTS + 1);
  // A request that was given up may still count when the next one arrives.
  expect(most).toBeLessThan(SLOTS * 0.75);
}, 180_000);

it('a team without a slot gets one, however many teams hang', () => {
  const slots = new TeamSlots(SLOTS);
  const taken = Array.from({ length: 10 }, (_, team) => {
    let count = 0;
    while (slots.take(`team ${team}`)) count += 1;
    return count;
  });
  expect(taken).toEqual([25, 13, 6, 3, 2, 1, 1, 1, 1, 1]);
  for (let one = 0; one < 25; one += 1) slots.release('team 0');
  expect(slots.take('team 0')).toBe(true);
});
