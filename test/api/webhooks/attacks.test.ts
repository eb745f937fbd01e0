/** What those may learn who may not know of an endpoint. */
import { disableWebhook } from '../../../api/webhooks/delivery/disable-webhook.js';
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { buildWebhook } from '../../factories/webhooks.js';
import { startApp, type TestApp } from '../../support/app.js';
import { QUICK } from './support.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp(QUICK);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

it('an endpoint that is disabled by itself is no news for guests', async () => {
  const { webhook_id } = await buildWebhook(app, team, 'https://intranet.example/hook');
  await disableWebhook(app.services, webhook_id, 'gone');
  const feed = await app.as(team.guest).get(`/api/activity?team_id=${team.team_id}`);
  expect([feed.status, JSON.stringify(feed.body)]).toEqual([200, expect.not.stringContaining('intranet')]);
  const [entry] = await app.services.db('audit_entries').where({ entity_id: webhook_id, action: 'toggle' });
  expect(JSON.parse(entry.details)).toMatchObject({ host: 'intranet.example', disabled_reason: 'gone' });
});
