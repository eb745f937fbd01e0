/** From a committed change to a signed request at every endpoint that asked for it. */
import { EVENT_TYPES, triggersOfTypes } from '../../../../api/platform/events/event-types.js';
import { newId } from '../../../../api/platform/ids.js';
import { buildEvent } from '../../../../api/integrations/webhooks/events/body.js';
import { WEBHOOK_EVENTS } from '../../../../api/integrations/webhooks/events/names.js';

import { newWebhookSecret, sealWebhookSecret } from '../../../../api/integrations/webhooks/secret.js';
import { buildSession, staged } from '../../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { until } from '../../../support/worker.js';
import { type Delivery, readEnded, fanOut, summarizeHealth, getId, QUICK, startDelivery, untilEmpty, verify } from './support.js';

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
  await delivery.stop();
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
const at = (path: string) => receiver.received.filter(({ url }) => url === path);

it('an event type that an endpoint can ask for is known by both lists', async () => {
  const fromTable = await db().raw<{ rows: { name: string }[] }>(
    "select distinct unnest(triggers) as name from event_types where event_type not like all ('{forge.%,security.%,relation.%}')",
  );
  const names = fromTable.rows.map(({ name }) => name).toSorted();
  expect(Object.keys(WEBHOOK_EVENTS).toSorted()).toEqual(names);
  const ofTypes = EVENT_TYPES.filter((type) => !/^(forge|security|relation)\./.test(type)).flatMap(
    (type) => triggersOfTypes[type],
  );
  expect(new Set(ofTypes)).toEqual(new Set(names));
});

it('the end of an export reaches who asks for it, for its family or for everything, once', async () => {
  const paths = { named: ['bulk.job_finished'], family: ['bulk.*'], all: ['*'] };
  const made = await Promise.all(
    Object.entries(paths).map(async ([path, events]) => {
      const url = `${receiver.url}/${path}`;
      return (await app.as(team.admin).post('/api/webhooks', { url, team_id: team.team_id, events })).body;
    }),
  );
  const job = await app.as(team.manager).post('/api/bulk/export', { team_id: team.team_id, format: 'json' });
  const cancelled = await app.as(team.manager).post(`/api/bulk/jobs/${job.body.job_id}/cancel`);
  expect([job.status, cancelled.status]).toEqual([202, 200]);
  await delivery.fanOut();
  for (const webhook of made) await untilEmpty(app, webhook);
  for (const [n, path] of Object.keys(paths).entries()) {
    const ends = at(`/${path}`)
      .map((request) => verify(made[n].secret, request))
      .filter(({ type }) => type === 'bulk.job_finished');
    expect(ends).toMatchObject([
      {
        data: {
          team_id: team.team_id,
          entity_type: 'bulk_job',
          entity_id: job.body.job_id,
          object: { kind: 'export', status: 'cancelled' },
        },
      },
    ]);
  }
});

it('a plan of a chat is told to the endpoints of its team when it is staged and when it is applied', async () => {
  const webhook = await buildWebhook(app, team, `${receiver.url}/plans`, { events: ['agent.*'] });
  const task = await buildTask(app, team, project);
  const session = await buildSession(app, team.member);
  const proposed = { tool: 'task.update' as const, entity_id: task.task_id, params: { priority: 'high' } };
  const { action_id } = await staged(app, team.member, [proposed], { session });
  const confirmed = await app.as(team.member).post('/api/ai-workspace/agent/confirm', {
    session_id: session.session_id,
    action_id,
    confirmed: true,
  });
  expect(confirmed.status).toBe(200);
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  const types = at('/plans').map(({ body }) => (JSON.parse(body) as { type: string }).type);
  expect(types.toSorted()).toEqual(['agent.plan_applied', 'agent.plan_staged']);
});

it('a change reaches the endpoints that asked for it, signed, each of its names as an event of its own', async () => {
  const all = await buildWebhook(app, team, `${receiver.url}/all`);
  const done = await buildWebhook(app, team, `${receiver.url}/done`, { events: ['task.completed'] });
  await buildWebhook(app, team, `${receiver.url}/notes`, { events: ['note.*'] });
  await buildWebhook(app, await buildTeam(app), `${receiver.url}/stranger`);
  await buildWebhook(app, team, `${receiver.url}/off`, { is_active: false });
  const task = await buildTask(app, team, project);
  await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  await delivery.fanOut();
  await untilEmpty(app, all);
  await untilEmpty(app, done);
  const told = at('/all').map((request) => ({ id: getId(request), ...verify(all.secret, request) }));
  expect(told.map(({ type }) => type).toSorted()).toEqual([
    'task.completed',
    'task.created',
    'task.status_changed',
    'task.updated',
  ]);
  expect(new Set(told.map(({ id }) => id)).size).toBe(4);
  const completed = told.find(({ type }) => type === 'task.completed');
  expect(completed).toMatchObject({
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      event_id: completed?.id,
      team_id: team.team_id,
      project_id: project.project_id,
      actor_id: team.manager.user_id,
      entity_type: 'task',
      entity_id: task.task_id,
      changes: { status: { from: 'todo', to: 'done' } },
      object: { task_id: task.task_id, status: 'done' },
    },
  });
  expect(at('/done').map(getId)).toEqual([completed?.id]);
  expect(verify(done.secret, at('/done')[0]!).type).toBe('task.completed');
  expect(receiver.received).toHaveLength(5);
  expect(await readEnded(app, done)).toMatchObject([
    {
      event_id: completed?.id,
      status: 'succeeded',
      event_type: 'task.completed',
      attempts: [{ status_code: 200, error: null, response: 'ok' }],
    },
  ]);
  expect(await summarizeHealth(app, done)).toMatchObject({
    failure_count: 0,
    failing_since: null,
    last_success_at: expect.any(Date),
  });
});

it('without an endpoint that asks for it no event is written', async () => {
  await buildWebhook(app, team, receiver.url, { events: ['note.created'] });
  await buildTask(app, team, project);
  expect(await db()('outbox').where({ team_id: team.team_id, kind: 'event' })).toEqual([]);
});

it.each([
  [
    'an edit',
    async (id: string) =>
      db()('webhooks')
        .where({ webhook_id: id })
        .update({ events: ['note.*'] }),
    0,
  ],
  ['a deletion', async (id: string) => db()('webhooks').where({ webhook_id: id }).delete(), 0],
  ['a pause', async (id: string) => db()('webhooks').where({ webhook_id: id }).update({ is_active: false }), 0],
])('%s between the change and the fan-out fails no event', async (_what, change, expected) => {
  const webhook = await buildWebhook(app, team, `${receiver.url}/edited`);
  const other = await buildWebhook(app, team, `${receiver.url}/other`);
  await buildTask(app, team, project);
  await change(webhook.webhook_id);
  await delivery.fanOut();
  await untilEmpty(app, other);
  expect([at('/edited').length, at('/other').length]).toEqual([expected, 1]);
  expect(await db()('outbox').where({ team_id: team.team_id })).toEqual([]);
});

it('a deletion that commits while the fan-out waits for it takes only its own rows', async () => {
  const webhook = await buildWebhook(app, team, `${receiver.url}/gone`);
  const other = await buildWebhook(app, team, `${receiver.url}/stays`);
  await buildTask(app, team, project);
  const deletion = await db().transaction();
  await deletion('webhooks').where({ webhook_id: webhook.webhook_id }).delete();
  const fanned = fanOut(app);
  await fanned;
  await deletion.commit();
  await until(async () => {
    await db()('outbox').update({ next_attempt_at: db().fn.now() });
    await delivery.fanOut();
    return at('/stays').length === 1;
  });
  await untilEmpty(app, other);
  expect(at('/gone')).toEqual([]);
});

it('a large record is left out, and the body stays small', async () => {
  const webhook = await buildWebhook(app, team, `${receiver.url}/large`, { events: ['comment.*'] });
  const task = await buildTask(app, team, project);
  await app.as(team.manager).post(`/api/tasks/${task.task_id}/comments`, { content: '€'.repeat(9_000) });
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  const [large] = at('/large');
  expect(large?.body.length).toBeLessThan(20_000);
  const { data } = verify(webhook.secret, large!);
  expect(data).toMatchObject({ thin: true, entity_type: 'comment', entity_id: expect.any(String), changes: {} });
  expect(data).not.toHaveProperty('object');
});

it('long values of a change are left out too', () => {
  const change = { title: { from: 'Old', to: 'New' }, description: { from: null, to: '€'.repeat(9_000) } };
  const about = {
    subject: 'task.updated',
    event_id: newId(),
    team_id: newId(),
    project_id: null,
    created_at: '2026-11-22T10:00:00Z',
  };
  const { body } = buildEvent({ ...about, payload: { task: { task_id: 'x' }, changes: change } }, 'task.updated');
  expect(JSON.parse(body).data).toMatchObject({ thin: true, changes: { ...change, description: { from: null, to: null } } });
});

it('both secrets sign during a rotation, and only the new one after it', async () => {
  const webhook = await buildWebhook(app, team, `${receiver.url}/rotated`, { events: ['task.created'] });
  const next = newWebhookSecret();
  const [{ data_key, sealed_value }] = await db()('webhooks').where({ webhook_id: webhook.webhook_id });
  const rotate = (overlap: string) =>
    db()('webhooks')
      .where({ webhook_id: webhook.webhook_id })
      .update({
        ...sealWebhookSecret(app.services.config, webhook.webhook_id, next),
        previous_data_key: data_key,
        previous_sealed_value: sealed_value,
        previous_until: db().raw(`now() + interval '${overlap}'`),
      });
  receiver.answer((_request, response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end());
  await buildTask(app, team, project);
  await rotate('1 hour');
  await fanOut(app);
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  expect(receiver.received).toHaveLength(2);
  expect(new Set(receiver.received.map(getId)).size).toBe(1);
  for (const request of receiver.received) {
    expect((request.headers['webhook-signature'] as string).split(' ')).toHaveLength(2);
    for (const secret of [webhook.secret, next]) expect(verify(secret, request).type).toBe('task.created');
  }
  await rotate('-1 hour');
  await buildTask(app, team, project);
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  const last = receiver.received.at(-1)!;
  expect(verify(next, last).type).toBe('task.created');
  expect(() => verify(webhook.secret, last)).toThrow();
});
