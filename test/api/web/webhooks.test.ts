import { buildTeam, type TestTeam } from '../../factories/people.js';
import { buildDelivery, createWebhook, PUBLIC_URL } from '../../factories/webhooks.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// The pages of a team's webhooks, as a browser without scripts uses them.

let app: TestApp;
let team: TestTeam;
let path: string;
let browser: Browser;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  path = `/app/teams/${team.team_id}/webhooks`;
  browser = await signIn(app, team.admin);
});

const attempt = { at: '2026-11-20T17:51:02.123Z', status_code: 503, duration_ms: 12, error: null, response: 'we are away' };

it('creates an endpoint, shows the secret once, and lists it', async () => {
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain(`href="${path}"`);
  const { html } = await browser.get(path);
  for (const text of ['No webhooks yet.', 'href="/api/redoc#tag/Webhooks"']) expect(html).toContain(text);
  const created = await browser.post(path, { url: PUBLIC_URL, description: 'Chat', events: 'task.*' });
  const secret = /whsec_[A-Za-z0-9+/=]+/.exec(created.html)?.[0] ?? '';
  expect(secret).toHaveLength(50);
  const [{ webhook_id, events }] = await db()('webhooks').where({ team_id: team.team_id });
  expect(events).toEqual(['task.*']);
  const pages = [await browser.get(path), await browser.get(`${path}/${webhook_id}`)];
  for (const { status, html } of pages) {
    expect([status, html.includes(PUBLIC_URL), html.includes(secret)]).toEqual([200, true, false]);
  }
});

it('says what is wrong beside the field, and keeps what was typed', async () => {
  const bad = await browser.post(path, { url: 'http://10.0.0.1/', description: 'Chat', events: 'note.*' });
  expect(bad.status).toBe(422);
  expect(bad.html).toContain('Url must be an https address without credentials');
  expect(bad.html).toMatch(/value="note\.\*" checked/);
  const none = await browser.post(path, { url: PUBLIC_URL });
  expect([none.status, none.html.includes('Choose at least one event')]).toEqual([422, true]);
  const odd = await browser.post(path, { url: PUBLIC_URL, events: 'note.everything' });
  expect([odd.status, odd.html.includes('Has no event note.everything')]).toEqual([422, true]);
  expect(await db()('webhooks').where({ team_id: team.team_id })).toEqual([]);
});

it('edits, disables, enables, rotates and deletes', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const own = `${path}/${webhook_id}`;
  const post = (name: string, fields: Record<string, string> = {}) => browser.post(`${own}${name}`, fields, { from: own });
  const row = () => db()('webhooks').where({ webhook_id }).first();
  expect((await post('', { url: PUBLIC_URL, description: '', events: 'task.created' })).status).toBe(303);
  expect(await row()).toMatchObject({ events: ['task.created'], description: null });
  await post('/toggle', { is_active: 'false' });
  expect(await row()).toMatchObject({ is_active: false });
  await db()('webhooks').where({ webhook_id }).update({ disabled_reason: 'gone' });
  expect((await browser.get(own)).html).toContain('its receiver answered 410');
  await post('/toggle', { is_active: 'true' });
  expect(await row()).toMatchObject({ is_active: true, disabled_reason: null });
  const rotated = await post('/rotate');
  expect(rotated.html).toMatch(/whsec_[A-Za-z0-9+/=]{44}/);
  expect((await row()).previous_until).not.toBeNull();
  expect((await post('/delete')).headers.get('location')).toBe(path);
  expect((await browser.get(own)).status).toBe(404);
});

it('sends a test, shows request and answers of a delivery, and sends it again', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const own = `${path}/${webhook_id}`;
  await browser.post(`${own}/test`, {}, { from: own });
  expect((await browser.get(own)).html).toContain('webhook.test');
  const { delivery_id } = await buildDelivery(app, team, webhook_id, { attempts: [attempt] });
  const listed = await browser.get(`${own}?status=failed`);
  expect(listed.html).toContain('1 attempt, the last answered 503 in 12 ms');
  expect(listed.html).not.toContain('webhook.test');
  const page = `${own}/deliveries/${delivery_id}`;
  const { html } = await browser.get(page);
  for (const text of ['we are away', 'task.created', 'Resend']) expect(html).toContain(text);
  expect((await browser.post(`${page}/redeliver`, {}, { from: page })).headers.get('location')).toBe(page);
  expect((await browser.get(page)).html).toContain('Send now');
});

it('replays what failed, and says why it cannot', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const own = `${path}/${webhook_id}`;
  await buildDelivery(app, team, webhook_id);
  await buildDelivery(app, team, webhook_id, { status: 'succeeded' });
  await browser.post(`${own}/replay`, { hours: '24' }, { from: own });
  expect((await browser.get(own)).html).toContain('1 delivery will be sent again.');
  expect(await db()('webhook_queue').where({ webhook_id })).toHaveLength(1);
  await db()('webhooks').where({ webhook_id }).update({ is_active: false });
  await browser.post(`${own}/replay`, { hours: '24' }, { from: own });
  expect((await browser.get(own)).html).toContain('The webhook is disabled');
});

it('pages through the deliveries', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const own = `${path}/${webhook_id}`;
  for (let i = 0; i < 30; i += 1) await buildDelivery(app, team, webhook_id);
  const rows = (html: string): number => html.match(/\/deliveries\//g)?.length ?? 0;
  const first = await browser.get(own);
  const next = /href="([^"]+)"[^>]*>Older/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await browser.get(next);
  expect([rows(first.html), rows(second.html), second.html.includes('>Older')]).toEqual([25, 5, false]);
});

it('is for admins of the team only, and an endpoint has one address', async () => {
  const { webhook_id } = await createWebhook(app, team);
  const { delivery_id } = await buildDelivery(app, team, webhook_id);
  const other = await buildTeam(app);
  await givePasswords(app);
  const pages = [path, `${path}/${webhook_id}`, `${path}/${webhook_id}/deliveries/${delivery_id}`];
  for (const person of [team.manager, team.member, team.guest, other.admin]) {
    const visitor = await signIn(app, person);
    for (const page of pages) expect((await visitor.get(page)).status).toBe(403);
    for (const name of ['', '/toggle', '/test', '/rotate', '/replay', '/delete', `/deliveries/${delivery_id}/redeliver`]) {
      const fields = { url: PUBLIC_URL, events: '*', is_active: 'false', hours: '24' };
      const answer = await visitor.post(`${path}/${webhook_id}${name}`, fields, { from: '/app/teams' });
      expect([name, answer.status === 403 || answer.headers.get('location') !== null]).toEqual([name, true]);
    }
  }
  expect(await db()('webhooks').where({ webhook_id }).first()).toMatchObject({ is_active: true, previous_until: null });
  expect(await db()('webhook_queue').where({ webhook_id })).toEqual([]);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.admin.user_id, role: 'admin' });
  expect((await browser.get(`/app/teams/${other.team_id}/webhooks/${webhook_id}`)).status).toBe(404);
});
