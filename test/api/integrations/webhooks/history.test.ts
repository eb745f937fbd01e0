import { execFileSync } from 'node:child_process';
import { v7 as uuidv7, version } from 'uuid';
import { deriveDeliveryId, eventIdOfDelivery } from '../../../../api/integrations/webhooks/history/delivery-id.js';
import { firstIdAt } from '../../../../api/integrations/webhooks/rules.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildDelivery, createWebhook } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let webhook_id: string;
let path: string;
const db = () => app.services.db;
const admin = () => app.as(team.admin);
const queue = () => db()('webhook_queue').where({ webhook_id });
const ended = () => db()('webhook_deliveries').where({ webhook_id });

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  ({ webhook_id } = await createWebhook(app, team));
  path = `/api/webhooks/${webhook_id}`;
});

const attempt = (fields: object = {}) => ({
  at: '2026-11-20T17:51:02.123Z',
  status_code: 500,
  duration_ms: 12,
  error: null,
  response: 'the body of the receiver',
  ...fields,
});

it('lists what is pending and what has ended, the newest event first', async () => {
  const oldest = await buildDelivery(app, team, webhook_id, { status: 'succeeded', attempts: [attempt({ status_code: 204 })] });
  const middle = await buildDelivery(app, team, webhook_id, { status: 'pending', attempts: [attempt(), attempt()] });
  const newest = await buildDelivery(app, team, webhook_id);
  const { body } = await admin().get(`${path}/deliveries`);
  const { response: _response, ...short } = attempt();
  expect(body).toEqual([
    { ...newest, event_type: 'task.created', status: 'failed', attempts: [], next_attempt_at: null },
    { ...middle, event_type: 'task.created', status: 'pending', attempts: [short, short], next_attempt_at: expect.any(String) },
    {
      ...oldest,
      event_type: 'task.created',
      status: 'succeeded',
      attempts: [{ ...short, status_code: 204 }],
      next_attempt_at: null,
    },
  ]);
  for (const [status, delivery] of Object.entries({ failed: newest, pending: middle, succeeded: oldest })) {
    expect((await admin().get(`${path}/deliveries?status=${status}`)).body).toMatchObject([delivery]);
  }
  expect((await admin().get(`${path}/deliveries?status=lost`)).status).toBe(422);
});

it('pages by the event', async () => {
  const made = [];
  for (const status of ['succeeded', 'pending', 'failed', 'succeeded', 'pending'] as const) {
    made.unshift((await buildDelivery(app, team, webhook_id, { status })).event_id);
  }
  const seen: string[] = [];
  for (let next: string | undefined = `${path}/deliveries?limit=2`; next !== undefined; ) {
    const page = await admin().get(next);
    seen.push(...page.body.map(({ event_id }: { event_id: string }) => event_id));
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(seen).toEqual(made);
});

it('shows one delivery with what was sent and what was answered', async () => {
  const attempts = [attempt(), { ...attempt({ status_code: null, error: 'timeout' }), response: undefined }];
  const delivery = await buildDelivery(app, team, webhook_id, { attempts });
  const { body } = await admin().get(`${path}/deliveries/${delivery.delivery_id}`);
  expect(body).toMatchObject({
    ...delivery,
    request_body: `{"type":"task.created","data":{"event_id":"${delivery.event_id}"}}`,
    attempts: [{ response: 'the body of the receiver' }, { status_code: null, error: 'timeout', response: null }],
  });
  const other = await createWebhook(app, team);
  expect((await admin().get(`/api/webhooks/${other.webhook_id}/deliveries/${delivery.delivery_id}`)).status).toBe(404);
});

it('queues a test whatever the endpoint subscribes to, ten at most', async () => {
  const answer = await admin().post(`${path}/test`);
  expect(answer).toMatchObject({ status: 202, body: { event_type: 'webhook.test', status: 'pending', attempts: [] } });
  const { body } = await admin().get(`${path}/deliveries/${answer.body.delivery_id}`);
  expect(JSON.parse(body.request_body)).toMatchObject({
    type: 'webhook.test',
    data: { event_id: answer.body.event_id, team_id: team.team_id, entity_id: webhook_id, actor_id: team.admin.user_id },
  });
  const statuses = [];
  for (let i = 0; i < 10; i += 1) statuses.push((await admin().post(`${path}/test`)).status);
  expect(statuses).toEqual([...Array(9).fill(202), 409]);
  expect(await queue()).toHaveLength(10);
});

it('the id of a delivery names one event of one endpoint', () => {
  const [event, hook, other] = [uuidv7(), uuidv7(), uuidv7()];
  const id = deriveDeliveryId(hook, event);
  expect([id, deriveDeliveryId(other, event), event].map((each) => [version(each), each.slice(0, 13)])).toEqual(
    Array(3).fill([7, event.slice(0, 13)]),
  );
  expect(new Set([id, deriveDeliveryId(other, event), event]).size).toBe(3);
  expect(eventIdOfDelivery(hook, id)).toBe(event);
  expect(eventIdOfDelivery(other, id)).not.toBe(event);
});

it('sends an ended delivery again under its ids, with its attempts and the whole timetable', async () => {
  for (const status of ['failed', 'succeeded'] as const) {
    const delivery = await buildDelivery(app, team, webhook_id, { status, attempts: [attempt()] });
    const answer = await admin().post(`${path}/deliveries/${delivery.delivery_id}/redeliver`);
    expect(answer).toMatchObject({ status: 202, body: { ...delivery, status: 'pending', attempts: [{ status_code: 500 }] } });
    const { event_id } = delivery;
    expect(await queue().where({ event_id })).toMatchObject([{ tries: 0, is_leased: false, attempts: [attempt()] }]);
    expect(await ended().where({ event_id })).toEqual([]);
  }
  const last = await db()('audit_entries').where({ entity_id: webhook_id }).orderBy('audit_id', 'desc').first();
  expect(last).toMatchObject({ action: 'retry', severity: 'LOW' });
});

it('attempts a pending delivery at once, without a new timetable, and leaves a request in progress alone', async () => {
  const { delivery_id } = await buildDelivery(app, team, webhook_id, { status: 'pending' });
  const redeliver = () => admin().post(`${path}/deliveries/${delivery_id}/redeliver`);
  expect((await redeliver()).status).toBe(202);
  const [row] = await queue();
  expect(row.tries).toBe(2);
  expect(row.next_attempt_at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
  const lease = new Date(Date.now() + 60_000);
  await queue().update({ is_leased: true, next_attempt_at: lease });
  expect((await redeliver()).status).toBe(202);
  expect(await queue()).toMatchObject([{ next_attempt_at: lease }]);
});

it('the same delivery, sent again many times at once, is queued once', async () => {
  const { delivery_id } = await buildDelivery(app, team, webhook_id);
  const answers = await Promise.all(Array.from({ length: 8 }, () => admin().post(`${path}/deliveries/${delivery_id}/redeliver`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202));
  expect([await queue(), await ended()].map((rows) => rows.length)).toEqual([1, 0]);
});

it('sends nothing to a disabled endpoint', async () => {
  const { delivery_id } = await buildDelivery(app, team, webhook_id);
  await admin().patch(path, { is_active: false });
  const range = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
  const answers = [
    await admin().post(`${path}/test`),
    await admin().post(`${path}/deliveries/${delivery_id}/redeliver`),
    await admin().post(`${path}/replay`, range),
  ];
  expect(answers.map(({ status, body }) => [status, body.message])).toEqual(Array(3).fill([409, 'The webhook is disabled']));
  expect(await queue()).toEqual([]);
});

const idAt = (iso: string): string => `${firstIdAt(Date.parse(iso)).slice(0, 18)}${uuidv7().slice(18)}`;

it('replays what failed of a range, its end excluded, and nothing else', async () => {
  const build = async (at: string, status: 'failed' | 'succeeded' = 'failed') =>
    (await buildDelivery(app, team, webhook_id, { status, event_id: idAt(at) })).event_id;
  await build('2026-11-19T23:59:59.999Z');
  const first = await build('2026-11-20T00:00:00.000Z');
  await build('2026-11-20T12:00:00.000Z', 'succeeded');
  const last = await build('2026-11-20T23:59:59.999Z');
  await build('2026-11-21T00:00:00.000Z');
  const other = await createWebhook(app, team);
  await buildDelivery(app, team, other.webhook_id, { event_id: first });
  const answer = await admin().post(`${path}/replay`, { from: '2026-11-20T01:00:00+01:00', to: '2026-11-21T00:00:00Z' });
  expect(answer).toMatchObject({ status: 202, body: { queued: 2 } });
  expect(await queue().orderBy('event_id').pluck('event_id')).toEqual([first, last]);
  expect(await ended()).toHaveLength(3);
  expect(await db()('webhook_queue').where({ webhook_id: other.webhook_id })).toEqual([]);
});

it.each([
  [{ from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' }, 'to'],
  [{ from: '2026-11-21T00:00:00Z', to: '2026-11-21T00:00:00Z' }, 'to'],
  [{ from: '2026-11-20', to: '2026-11-21T00:00:00Z' }, 'from'],
  [{ from: '2026-11-20T00:00:00', to: '2026-11-21T00:00:00Z' }, 'from'],
  [{ from: '2026-11-20T00:00:00Z' }, 'to'],
  [{ from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', status: 'succeeded' }, 'status'],
])('refuses to replay %j', async (body, field) => {
  const answer = await admin().post(`${path}/replay`, body);
  expect(answer.status).toBe(422);
  expect(answer.body.detail.errors[0].field).toBe(`body.${field}`);
});

it('takes times at the ends of the calendar', async () => {
  for (const [from, to] of [
    ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'],
    ['1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z'],
  ]) {
    expect((await admin().post(`${path}/replay`, { from, to })).body).toEqual({ queued: 0 });
  }
});

/** Deliveries that failed, one a millisecond from `at` on. */
const buildMany = (count: number, at: number) =>
  db().raw(
    /* sql */ `
    with ids as (
      select (lpad(to_hex(?::bigint + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid as id from generate_series(1, ?) i
    ), bodies as (insert into webhook_events select id, ?, 'task.created', '{}' from ids)
    insert into webhook_deliveries (event_id, webhook_id, event_type, status, attempts)
    select id, ?, 'task.created', 'failed', '[]' from ids`,
    [at, count, team.team_id, webhook_id],
  );

it('replays 10,000 at most, all or none, and no second time while they are pending', async () => {
  const at = Date.parse('2026-11-20T00:00:00Z');
  await buildMany(10_001, at);
  const range = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' };
  const refused = await admin().post(`${path}/replay`, range);
  expect(refused).toMatchObject({ status: 409, body: { failed_deliveries: 10_001, detail: expect.stringContaining('10001') } });
  expect(await queue().count()).toEqual([{ count: 0 }]);
  const shorter = { ...range, to: new Date(at + 10_001).toISOString() };
  const answers = await Promise.all([admin().post(`${path}/replay`, shorter), admin().post(`${path}/replay`, shorter)]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
  expect(answers.find(({ status }) => status === 202)?.body).toEqual({ queued: 10_000 });
  expect(answers.find(({ status }) => status === 409)?.body.message).toBe('Too many deliveries are pending');
  const again = await admin().post(`${path}/replay`, range);
  expect(again.body.message).toBe('Too many deliveries are pending');
  expect([await queue().count(), await ended().count()]).toEqual([[{ count: 10_000 }], [{ count: 1 }]]);
  expect((await admin().delete(path)).status).toBe(200);
});

it('npm run doctor says when first attempts are late, and how many endpoints fail', async () => {
  const doctor = () =>
    execFileSync(process.execPath, ['scripts/doctor.mjs'], {
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: app.database.url },
    });
  await db()('webhook_queue').delete();
  expect(doctor()).toContain('ok    0 webhook deliveries wait, 0 endpoints fail\n');
  await buildDelivery(app, team, webhook_id, { status: 'pending' });
  const overdue = { tries: 0, next_attempt_at: new Date(Date.now() - 3_600_000) };
  await queue().update(overdue);
  expect(doctor()).toMatch(
    /warn {2}1 webhook delivery waits, 0 endpoints fail; a first attempt is 3[67]\d\d s late\n.*troubleshoot/,
  );
  await db()('webhook_health').where({ webhook_id }).update({ failure_count: 1 });
  expect(doctor()).toContain('ok    1 webhook delivery waits, 1 endpoint fails\n');
});
