import { buildPerson, buildTeam, leave, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Settings of the agent for a team.

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const url = () => `/api/ai-workspace/settings?team_id=${team.team_id}`;
const put = (body: object, as = team.admin) => app.as(as).put(url(), body);
const nightly = (more: object = {}) => ({ overnight_triage: { enabled: true, ...more } });
const syncs = () => app.services.db('outbox').where({ kind: 'triage.sync', subject: team.team_id });

const DEFAULTS = {
  overnight_triage: {
    enabled: false,
    cron: '0 2 * * *',
    timezone: 'UTC',
    next_run_at: null,
    enabled_by: null,
    disabled_reason: null,
  },
  ci_triage: { enabled: false },
  monthly_message_quota: null,
  external_model: { enabled: false },
};

it('a team without a row has the defaults, and everything is off', async () => {
  const { status, body } = await app.as(team.admin).get(url());
  expect([status, body]).toEqual([
    200,
    {
      team_id: team.team_id,
      ...DEFAULTS,
      usage: { month: expect.stringMatching(/^\d{4}-\d\d-01$/), messages: 0, input_tokens: 0, output_tokens: 0, cost_micro: 0 },
    },
  ]);
});

it('stores all fields, shows the next night and the use, and a PUT leaves what it does not name', async () => {
  const saved = await put({
    overnight_triage: { enabled: true, cron: '30 2 * * mon-fri', timezone: 'europe/berlin' },
    ci_triage: { enabled: true },
    monthly_message_quota: 0,
    external_model: { enabled: true },
  });
  expect(saved.body).toMatchObject({
    overnight_triage: {
      enabled: true,
      cron: '30 2 * * mon-fri',
      timezone: 'Europe/Berlin',
      enabled_by: team.admin.user_id,
      disabled_reason: null,
    },
    ci_triage: { enabled: true },
    monthly_message_quota: 0,
    external_model: { enabled: true },
  });
  // The team's own minute comes after the time of the settings, the same each time.
  expect(saved.body.overnight_triage.next_run_at).toMatch(/T0[01]:[34]\d:00\.000Z$/);
  await app.services
    .db('agent_usage')
    .insert({ team_id: team.team_id, month: saved.body.usage.month, messages: 7, input_tokens: 5_000_000_000 });
  const read = await app.as(team.admin).get(url());
  expect(read.body.usage).toMatchObject({ messages: 7, input_tokens: 5_000_000_000 });
  const { overnight_triage, ci_triage, monthly_message_quota, external_model } = saved.body;
  const kept = { overnight_triage, ci_triage, monthly_message_quota, external_model };
  expect((await put({})).body).toMatchObject(kept);
  expect((await put({ monthly_message_quota: 3 })).body).toMatchObject({ ...kept, monthly_message_quota: 3 });
  const later = (await put({ overnight_triage: { enabled: true } })).body.overnight_triage;
  expect([later.cron, later.timezone]).toEqual(['30 2 * * mon-fri', 'Europe/Berlin']);
  const reset = {
    overnight_triage: { enabled: false, cron: '0 2 * * *', timezone: 'UTC' },
    ci_triage: { enabled: false },
    monthly_message_quota: null,
    external_model: { enabled: false },
  };
  expect((await put(reset)).body).toMatchObject(DEFAULTS);
});

it('a time just before midnight stays on its day, and the team’s own minute is the same each time', async () => {
  const next = async (cron: string): Promise<string> => (await put(nightly({ cron }))).body.overnight_triage.next_run_at;
  expect(await next('58 23 * * *')).toMatch(/T23:5[89]:00\.000Z$/);
  expect(await next('59 23 * * *')).toMatch(/T23:59:00\.000Z$/);
  const minutes = [(await next('0 3 * * *')).slice(14), (await next('0 4 * * *')).slice(14)];
  expect(minutes[0]).toMatch(/^[01]\d:00\.000Z$/);
  expect(minutes[1]).toBe(minutes[0]);
});

it.each([
  ['too few fields', '0 2 * *', 400, /five fields/],
  ['an unknown day', '0 2 * * fun', 400, /at character 8/],
  ['every hour', '0 * * * *', 400, /at most once a day/],
  ['twice an hour', '0,30 2 * * *', 400, /at most once a day/],
  ['a day that never comes', '0 2 30 2 *', 400, /never matches/],
])('a schedule with %s is refused with the position', async (_what, cron, status, words) => {
  const answer = await put(nightly({ cron }));
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(words)]);
  expect(await syncs()).toEqual([]);
});

it.each([
  [{ overnight_triage: { enabled: 'yes' } }, 'body.overnight_triage.enabled'],
  [{ overnight_triage: { enabled: true, timezone: 'Mars/Base' } }, 'body.overnight_triage.timezone'],
  [{ monthly_message_quota: -1 }, 'body.monthly_message_quota'],
  [{ monthly_message_quota: 1.5 }, 'body.monthly_message_quota'],
  [{ external_model: true }, 'body.external_model'],
])('%j is a 422 at its field', async (body, field) => {
  const answer = await put(body);
  expect([answer.status, answer.body.detail.errors[0].field]).toEqual([422, field]);
});

it('a change of the schedule, and only that, is for the worker; so is the end of the team', async () => {
  await put({ ci_triage: { enabled: true } });
  expect(await syncs()).toHaveLength(0);
  await put(nightly());
  await put({ ...nightly(), monthly_message_quota: 3 });
  expect(await syncs()).toHaveLength(1);
  await put(nightly({ timezone: 'Asia/Tokyo' }));
  expect(await syncs()).toHaveLength(2);
  await app.as(team.admin).delete(`/api/teams/${team.team_id}`);
  expect(await syncs()).toHaveLength(3);
});

it('CI triage subscribes the team to failures, as long as it is enabled', async () => {
  const types = async () =>
    (await app.services.db('event_subscriptions').where({ owner_id: team.team_id, kind: 'triage' }).first())?.event_types;
  await put({ ci_triage: { enabled: true } });
  expect(await types()).toEqual(['forge.check_suite_failed', 'forge.workflow_run_failed']);
  await put({});
  expect((await types())?.length).toBe(2);
  await put({ ci_triage: { enabled: false } });
  expect(await types()).toEqual([]);
});

it('each save is an audit entry; a model from outside is a HIGH one', async () => {
  await put(nightly());
  await put({ external_model: { enabled: true } });
  await put({ external_model: { enabled: true }, ci_triage: { enabled: true } });
  const entries = await app.services.db('audit_entries').where({ entity_type: 'agent_settings', team_id: team.team_id });
  expect(entries.map(({ severity, action }) => [severity, action])).toEqual([
    ['MEDIUM', 'update'],
    ['HIGH', 'update'],
    ['MEDIUM', 'update'],
  ]);
});

describe('whose permissions the overnight triage uses', () => {
  it('those of the admin who enabled it, also when another saves', async () => {
    await put(nightly());
    const second = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: second.user_id, role: 'admin' });
    const saved = await put({ ...nightly(), monthly_message_quota: 9 }, second);
    expect(saved.body.overnight_triage.enabled_by).toBe(team.admin.user_id);
    expect((await put({}, second)).body.overnight_triage.enabled_by).toBe(team.admin.user_id);
    await put({ overnight_triage: { enabled: false } }, second);
    expect((await put(nightly(), second)).body.overnight_triage.enabled_by).toBe(second.user_id);
  });

  it.each([
    ['left', leave],
    [
      'became a guest',
      (at: TestApp, { team_id }: { team_id: string }, { user_id }: { user_id: string }) =>
        at.services.db('memberships').where({ team_id, user_id }).update({ role: 'guest' }),
    ],
    [
      'is suspended',
      (at: TestApp, _team: object, { user_id }: { user_id: string }) =>
        at.services.db('users').where({ user_id }).update({ status: 'suspended' }),
    ],
  ])('who %s: the settings say so, and another admin’s save repairs it', async (_what, lose) => {
    const second = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: second.user_id, role: 'admin' });
    await put(nightly());
    await lose(app, team, team.admin);
    const { body } = await app.as(second).get(url());
    expect(body.overnight_triage).toMatchObject({ enabled: true, disabled_reason: 'enabler_cannot_write' });
    const saved = await put(nightly(), second);
    expect(saved.body.overnight_triage).toMatchObject({ enabled_by: second.user_id, disabled_reason: null });
  });
});

it('twenty saves at once leave one row, and each one its entry', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put({ ...nightly(), monthly_message_quota: n })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await app.services.db('agent_settings').where({ team_id: team.team_id })).toHaveLength(1);
  expect(await app.services.db('audit_entries').where({ entity_type: 'agent_settings', team_id: team.team_id })).toHaveLength(20);
  expect(await syncs()).toHaveLength(1);
});
