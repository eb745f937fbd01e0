import { toSlack } from '../../../../api/integrations/webhooks/events/slack.js';
import { buildSample, DELIVERED_EVENTS } from '../../../../api/integrations/webhooks/events/samples.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { createWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { type Delivery, QUICK, startDelivery, untilEmpty, verify } from './support.js';

// An endpoint of the format "slack" receives a line that a chat room shows, signed like any other body.

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
let delivery: Delivery;
beforeAll(async () => {
  app = await startApp({ ...QUICK, BASE_URL: 'https://assent.test' });
  receiver = await startReceiver();
  delivery = startDelivery(app);
});
afterAll(async () => {
  await delivery.stop();
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  receiver.received.length = 0;
  receiver.answer((_request, response) => response.end('ok'));
});

const line = (body: object): string => JSON.parse(toSlack(app.services.config, JSON.stringify(body))).text;

it('every event has a line with its description, and a link where it has a page', () => {
  for (const [name, past] of DELIVERED_EVENTS) {
    const text = line(buildSample(name));
    expect(text.startsWith(`*${past.replace(' in any way', '')}*`)).toBe(true);
    expect([name, /undefined|null|\[object/.test(text)]).toEqual([name, false]);
  }
  expect(line(buildSample('approval.requested'))).toBe(
    '*A run asks for an approval*: <https://assent.example.com/app/approvals/gate/0197a000-0000-7000-8000-000000000010|Ask before a release>\n> Close “Sign-in fails on Safari”?',
  );
});

it('an update of a project has its health and text, and leads to the project', () => {
  const project_id = buildSample('project_update.created')['data'] as { project_id: string };
  expect(line(buildSample('project_update.created'))).toBe(
    `*Someone posted an update of a project*: <https://assent.test/app/projects/${project_id.project_id}|at risk>\n> The antenna comes late`,
  );
});

it('no text of a task is syntax of the chat room', () => {
  const object = { title: '<!channel> a|b & <https://evil.test|click>\n*now*', task_id: 'x' };
  const data = { entity_type: 'task', entity_id: 'x/../y?z', object, changes: { title: { from: '<@U1>', to: 'b' } } };
  const text = line({ type: 'task.updated', data });
  expect(text).toBe(
    '*A task was changed*: <https://assent.test/app/items/x%2F..%2Fy%3Fz|&lt;!channel&gt; a¦b &amp; &lt;https://evil.test¦click&gt; *now*> (title: &lt;@\u200bU1&gt; → b)',
  );
  const marked = line({ type: 'x', data: { object: { title: '@all ![x](https://evil.test)' } } });
  expect(marked).toBe('*x*: @\u200ball ![x]\u200b(https://evil.test)');
  expect(line({ type: 'task.updated', data: { ...data, object: null, changes: {} } })).toContain('|Open>');
  expect(Array.from(line({ type: 'x', data: { object: { title: 'é'.repeat(20_000) } } })).length).toBeLessThan(330);
});

it('an import sends no line for each of its tasks, but its events to other endpoints', async () => {
  const room = await createWebhook(app, team, { url: `${receiver.url}/room`, format: 'slack', events: ['task.*'] });
  const plain = await createWebhook(app, team, { url: `${receiver.url}/plain`, events: ['task.*'] });
  await buildTask(app, team, await buildProject(app, team), { title: 'Fix the crane' });
  await app.services.db('outbox').where({ kind: 'event', team_id: team.team_id }).update({ is_quiet: true });
  await delivery.fanOut();
  for (const { webhook_id } of [room, plain]) await untilEmpty(app, { webhook_id });
  expect(receiver.received.map(({ url }) => url)).toEqual(['/plain']);
});

it('a delivery is the line, signed, and its page shows exactly that', async () => {
  const { webhook_id, secret } = await createWebhook(app, team, {
    url: `${receiver.url}/room`,
    format: 'slack',
    events: ['task.*'],
  });
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'Fix the crane' });
  await delivery.fanOut();
  await untilEmpty(app, { webhook_id });
  const [request] = receiver.received;
  expect(JSON.parse(request?.body ?? '')).toEqual({
    text: `*A task was created*: <https://assent.test/app/items/${task.task_id}|Fix the crane>`,
    unfurl_links: false,
  });
  verify(secret, request as never);
  const path = `/api/webhooks/${webhook_id}`;
  const { body: deliveries } = await app.as(team.admin).get(`${path}/deliveries`);
  const [{ delivery_id }] = deliveries.items ?? deliveries;
  expect((await app.as(team.admin).get(`${path}/deliveries/${delivery_id}`)).body.request_body).toBe(request?.body);
  expect((await app.as(team.admin).patch(path, { format: 'xml' })).status).toBe(422);
  expect((await app.as(team.admin).patch(path, { format: 'json' })).body).toMatchObject({ format: 'json', description: null });
  expect((await app.as(team.admin).patch(path, { description: 'Room' })).body).toMatchObject({ format: 'json' });
});
