import { v7 as uuidv7 } from 'uuid';
import { deleteExpiredSecrets } from '../../../../api/integrations/webhooks/delete-expired-secrets.js';
import { newWebhookSecret, openWebhookSecret } from '../../../../api/integrations/webhooks/secret.js';
import { buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { buildDelivery, createWebhook, PUBLIC_URL } from '../../../factories/webhooks.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
const db = () => app.services.db;
const admin = () => app.as(team.admin);
const create = (body: object = {}) =>
  admin().post('/api/webhooks', { team_id: team.team_id, url: PUBLIC_URL, events: ['task.*'], ...body });
const toRow = (webhook_id: string) => db()('webhooks').where({ webhook_id }).first();
const entries = (entity_id: string) => db()('audit_entries').where({ entity_id }).orderBy('audit_id');

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

it('creates an endpoint and shows its secret once', async () => {
  const created = await create({ description: ' Chat ', events: ['task.*', 'approval.requested', 'task.*'] });
  expect(created.status).toBe(201);
  const { secret, ...record } = created.body;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(record).toEqual({
    webhook_id: expect.any(String),
    team_id: team.team_id,
    url: PUBLIC_URL,
    events: ['task.*', 'approval.requested'],
    description: 'Chat',
    format: 'json',
    is_active: true,
    disabled_reason: null,
    secret_prefix: `${secret.slice(0, 10)}...`,
    failure_count: 0,
    last_success_at: null,
    last_failure_at: null,
    created_by: team.admin.user_id,
    created_at: expect.any(String),
  });
  const path = `/api/webhooks/${record.webhook_id}`;
  expect((await admin().get(path)).body).toEqual(record);
  expect((await admin().get(`/api/webhooks?team_id=${team.team_id}`)).body).toEqual([record]);
  const row = await toRow(record.webhook_id);
  expect(openWebhookSecret(app.services.config, record.webhook_id, row)).toBe(secret);
  expect(row.event_types).toEqual(expect.arrayContaining(['task.created', 'task.updated', 'approval.requested']));
  const [entry] = await entries(record.webhook_id);
  expect(entry).toMatchObject({ feature: 'webhooks', action: 'create', severity: 'HIGH', team_id: team.team_id });
  // The path of an address is often a credential.
  expect(JSON.stringify(entry)).not.toContain('/hook');
  expect(await db()('activity').where({ entity_id: record.webhook_id })).toEqual([]);
});

it('stores no answer that holds a secret under an Idempotency-Key', async () => {
  const headers = { 'Idempotency-Key': uuidv7() };
  const body = { team_id: team.team_id, url: PUBLIC_URL, events: ['*'] };
  const first = await admin().post('/api/webhooks', body, { headers });
  const second = await admin().post('/api/webhooks', body, { headers });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.webhook_id).not.toBe(first.body.webhook_id);
  await admin().post(`/api/webhooks/${first.body.webhook_id}/rotate-secret`, undefined, { headers });
  expect(await db()('idempotency_keys').where({ user_id: team.admin.user_id })).toEqual([]);
});

it('keeps to 20 endpoints a team, however many are created at once', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => create()));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array(20).fill(201), ...Array(10).fill(400)]);
  expect(answers.find(({ status }) => status === 400)?.body.message).toBe('A team has at most 20 webhooks; delete one first');
  const [{ webhook_id }] = (await admin().get(`/api/webhooks?team_id=${team.team_id}`)).body;
  await admin().delete(`/api/webhooks/${webhook_id}`);
  expect((await create()).status).toBe(201);
});

it.each([
  [['task.created'], 201, null],
  [['*'], 201, null],
  [['approval.*', 'webhook.disabled'], 201, null],
  [[], 422, 'events must have at least 1 item'],
  [['task.create'], 422, expect.stringContaining('has no event task.create; did you mean task.created, ')],
  [['tasks.*'], 422, expect.stringContaining('has no event tasks.*; did you mean task.*')],
  [['webhook.test'], 422, expect.stringContaining('has no event webhook.test')],
  [['forge.push'], 422, expect.stringContaining('has no event forge.push')],
  [['task.'], 422, expect.any(String)],
  [['**'], 422, expect.any(String)],
  [['task.created', 7], 422, expect.any(String)],
  [['x'.repeat(10_000)], 422, expect.not.stringContaining('x'.repeat(65))],
  [['note.created', 'note.created'], 201, null],
  [Array.from({ length: 1_000 }, (_, i) => `task.${i}`), 422, expect.any(String)],
  ['*', 422, expect.any(String)],
  [{ 0: '*' }, 422, expect.any(String)],
])('events %j are %i', async (events, status, message) => {
  const answer = await create({ events });
  expect(answer.status).toBe(status);
  if (status === 422) expect(answer.body.detail.errors[0].message).toEqual(message);
});

it('changes what differs, records it, and clears the failures with a new address', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const path = `/api/webhooks/${webhook_id}`;
  await db()('webhook_health').where({ webhook_id }).update({ failure_count: 7, failing_since: new Date() });
  expect((await admin().patch(path, { events: ['*'], url: PUBLIC_URL })).status).toBe(200);
  expect(await entries(webhook_id)).toHaveLength(1);
  const changed = await admin().patch(path, { events: ['note.created'], description: 'Notes' });
  expect(changed.body).toMatchObject({ events: ['note.created'], description: 'Notes', failure_count: 7 });
  expect(await toRow(webhook_id)).toMatchObject({ version: 2, event_types: ['note.created'] });
  const moved = await admin().patch(path, { url: 'https://8.8.8.8/other', description: null });
  expect(moved.body).toMatchObject({ url: 'https://8.8.8.8/other', description: null, failure_count: 0 });
  expect((await admin().patch(path, { url: 'https://10.0.0.1/' })).status).toBe(422);
  const [, , last] = await entries(webhook_id);
  expect(last).toMatchObject({ action: 'update', severity: 'HIGH' });
  expect(JSON.parse(last.details)).toMatchObject({ host: '8.8.8.8', previous_host: '93.184.216.34', url_changed: true });
});

it('enabling clears the reason and the failures; disabling keeps what is pending', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const path = `/api/webhooks/${webhook_id}`;
  const { delivery_id } = await buildDelivery(app, team, webhook_id, { status: 'pending' });
  await db()('webhooks').where({ webhook_id }).update({ is_active: false, disabled_reason: 'failing' });
  await db()('webhook_health').where({ webhook_id }).update({ failure_count: 40, failing_since: new Date() });
  expect((await admin().get(path)).body).toMatchObject({ disabled_reason: 'failing', failure_count: 40 });
  const waiting = (await admin().get(`${path}/deliveries`)).body;
  expect(waiting).toMatchObject([{ delivery_id, status: 'pending', next_attempt_at: null }]);
  const enabled = await admin().patch(path, { is_active: true });
  expect(enabled.body).toMatchObject({ is_active: true, disabled_reason: null, failure_count: 0 });
  expect((await admin().get(`${path}/deliveries`)).body).toMatchObject([
    { delivery_id, status: 'pending', next_attempt_at: expect.any(String) },
  ]);
  await admin().patch(path, { is_active: false });
  expect((await entries(webhook_id)).map(({ action }) => action)).toEqual(['create', 'toggle', 'toggle']);
  const subscribed = await db()('event_subscriptions').where({ owner_id: team.team_id, kind: 'webhook' }).first();
  expect(subscribed.event_types).toEqual([]);
});

it('rotates the secret: the one before also signs for a day, an older one ends', async () => {
  const { webhook_id, secret } = await createWebhook(app, team);
  const rotate = () => admin().post(`/api/webhooks/${webhook_id}/rotate-secret`);
  const second = await rotate();
  expect(second).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^whsec_/) } });
  const opened = async () => {
    const { data_key, sealed_value, previous_data_key, previous_sealed_value, previous_until } = await toRow(webhook_id);
    const open = (key: Buffer, value: Buffer) =>
      openWebhookSecret(app.services.config, webhook_id, { data_key: key, sealed_value: value });
    const [{ hours }] = (await db().raw('select extract(epoch from ?::timestamptz - now()) / 3600 as hours', [previous_until]))
      .rows;
    return [open(data_key, sealed_value), open(previous_data_key, previous_sealed_value), Math.round(hours)];
  };
  expect(await opened()).toEqual([second.body.secret, secret, 24]);
  const third = await rotate();
  expect(await opened()).toEqual([third.body.secret, second.body.secret, 24]);
  expect((await entries(webhook_id)).at(-1)).toMatchObject({ action: 'rotate', severity: 'HIGH' });
  const shown = JSON.stringify([
    await entries(webhook_id),
    (await admin().get(`/api/webhooks/${webhook_id}`)).body,
    (await admin().get(`/api/webhooks?team_id=${team.team_id}`)).body,
  ]);
  for (const each of [secret, second.body.secret, third.body.secret]) expect(shown).not.toContain(each.slice(12));
});

it('two rotations at once happen one after the other', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const answers = await Promise.all(Array.from({ length: 5 }, () => admin().post(`/api/webhooks/${webhook_id}/rotate-secret`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const { previous_data_key, previous_sealed_value } = await toRow(webhook_id);
  const previous = openWebhookSecret(app.services.config, webhook_id, {
    data_key: previous_data_key,
    sealed_value: previous_sealed_value,
  });
  expect(answers.map(({ body }) => body.secret)).toContain(previous);
});

it('deletes a secret that no longer signs, and no other', async () => {
  const [over, current] = [await createWebhook(app, team), await createWebhook(app, team)];
  for (const { webhook_id } of [over, current]) await admin().post(`/api/webhooks/${webhook_id}/rotate-secret`);
  await db()('webhooks')
    .where({ webhook_id: over.webhook_id })
    .update({ previous_until: new Date(Date.now() - 1_000) });
  await deleteExpiredSecrets(app.services);
  const empty = { previous_data_key: null, previous_sealed_value: null, previous_until: null };
  expect(await toRow(over.webhook_id)).toMatchObject(empty);
  expect((await toRow(current.webhook_id)).previous_sealed_value).not.toBeNull();
});

it('no two secrets are alike', () => {
  expect(new Set(Array.from({ length: 100 }, newWebhookSecret)).size).toBe(100);
});

it('deletes an endpoint with its queue; then nothing of it can be read', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const { delivery_id } = await buildDelivery(app, team, webhook_id, { status: 'pending' });
  const path = `/api/webhooks/${webhook_id}`;
  expect((await admin().delete(path)).body).toEqual({ success: true, webhook_id });
  expect(await db()('webhook_queue').where({ webhook_id })).toEqual([]);
  for (const below of ['', '/deliveries', `/deliveries/${delivery_id}`]) {
    expect((await admin().get(`${path}${below}`)).status).toBe(404);
  }
  expect((await admin().delete(path)).status).toBe(404);
});

it('goes with its team, and stays when its creator leaves', async () => {
  const { webhook_id } = await createWebhook(app, team);
  await db()('memberships').where({ team_id: team.team_id, user_id: team.manager.user_id }).update({ role: 'admin' });
  await app.as(team.manager).delete(`/api/teams/${team.team_id}/members/${team.admin.user_id}`);
  expect((await app.as(team.manager).get(`/api/webhooks/${webhook_id}`)).body).toMatchObject({
    is_active: true,
    created_by: team.admin.user_id,
  });
  expect((await app.as(team.manager).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect(await toRow(webhook_id)).toBeUndefined();
  expect((await app.as(team.manager).get(`/api/webhooks/${webhook_id}`)).status).toBe(404);
});

it('a token of an admin may do the same, and names its scope when strict', async () => {
  const body = { team_id: team.team_id, url: PUBLIC_URL, events: ['*'] };
  const plain = await buildToken(app, team.admin, ['tasks:read']);
  expect((await app.as(plain).post('/api/webhooks', body)).status).toBe(201);
  const strict = await buildToken(app, team.admin, ['automations:read'], { strict: true });
  expect((await app.as(strict).get(`/api/webhooks?team_id=${team.team_id}`)).status).toBe(200);
  expect((await app.as(strict).post('/api/webhooks', body)).status).toBe(403);
  expect((await app.as(await buildToken(app, team.manager, ['admin:*'])).post('/api/webhooks', body)).status).toBe(403);
});
