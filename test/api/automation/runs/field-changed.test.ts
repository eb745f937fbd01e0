import { until } from '../../../support/worker.js';
import { createField, setFields, type TestField } from '../../../factories/custom-fields.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type KillableRelay, openRelay } from '../../../outbox/support.js';
import { startApp, type TestApp } from '../../../support/app.js';

// A change of a custom field is an event of its own, with the field, and its value before and after as data and in words.

let app: TestApp;
let relay: KillableRelay;
let team: TestTeam;
let project: { project_id: string };
let severity: TestField;
beforeAll(async () => {
  app = await startApp();
  relay = openRelay(app);
});
afterAll(async () => {
  await relay.close();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  severity = await createField(app, team, 'select', {
    name: 'Severity',
    options: [{ value: 's1', label: 'S1 – down' }, { value: 's2' }],
  });
});

const automate = async (condition: string | null, actions: object[] = [{ type: 'add_comment', params: { content: 'Seen' } }]) => {
  const body = { name: 'Any', team_id: team.team_id, trigger_type: 'task.field_changed', condition, actions, is_active: true };
  const made = await app.as(team.member).post('/api/automations', body);
  expect(made.status).toBe(201);
  return made.body.automation_id as string;
};
const runsOf = (automation_id: string) => app.services.db('automation_runs').where({ automation_id }).orderBy('queued_at');
const events = () => app.services.db('outbox').where({ team_id: team.team_id, kind: 'event' });

it('starts by a change of a custom field, which it names with its values before and after', async () => {
  const { task_id } = await buildTask(app, team, project, { title: 'Login fails' });
  const worse = await automate('event.field.key == "severity" && event.changes.value.to == "s1"');
  await setFields(app, team, [{ field: severity, task_id, value: 's2' }]);
  await relay.drain();
  expect(await runsOf(worse)).toEqual([]);
  await setFields(app, team, [{ field: severity, task_id, value: 's1' }]);
  // Changed again before the relay reads the first event, which keeps what it says.
  await setFields(app, team, [{ field: severity, task_id, value: null }]);
  await relay.drain();
  const [run, ...more] = await runsOf(worse);
  expect(more).toEqual([]);
  expect(run).toMatchObject({
    status: 'queued',
    event: {
      type: 'task.field_changed',
      actor_id: team.member.user_id,
      project_id: project.project_id,
      task: { task_id, title: 'Login fails', team_id: team.team_id, custom_fields: { severity: 's1' } },
      field: { field_id: severity.field_id, key: 'severity', name: 'Severity', type: 'select' },
      changes: { value: { from: 's2', to: 's1' }, text: { from: 's2', to: 'S1 – down' } },
    },
  });
});

it('words each type, and cuts a long text', async () => {
  const { task_id } = await buildTask(app, team, project, {});
  await automate(null);
  const admin = (await app.as(team.admin).get('/api/auth/me')).body;
  const values: [Parameters<typeof createField>[2], unknown, string][] = [
    ['text', 'x'.repeat(2_000), 'x'.repeat(250)],
    ['number', 2.5, '2.5'],
    ['date', '2026-12-01', '2026-12-01'],
    ['boolean', false, 'No'],
    ['multi_select', ['low', 'high'], 'low, high'],
    ['user', admin.user_id, admin.display_name],
  ];
  const fields = await Promise.all(values.map(([type]) => createField(app, team, type, { name: `Own ${type}` })));
  await setFields(
    app,
    team,
    fields.map((field, at) => ({ field, task_id, value: values[at]?.[1] })),
  );
  const written = await events().orderBy('outbox_id');
  expect(written.map(({ payload }) => payload.changes.text)).toEqual(values.map(([, , to]) => ({ from: null, to })));
  expect(written[0].payload.changes.value).toEqual({ from: null, to: 'x'.repeat(250) });
});

it('writes no event without a subscriber, for a value that stays, and for a project', async () => {
  const { task_id } = await buildTask(app, team, project, {});
  await setFields(app, team, [{ field: severity, task_id, value: 's1' }]);
  expect(await events()).toEqual([]);
  await automate(null);
  await setFields(app, team, [{ field: severity, task_id, value: 's1' }]);
  const budget = await createField(app, team, 'number', { entity_type: 'project', name: 'Budget' });
  const body = [{ field_id: budget.field_id, entity_type: 'project', entity_id: project.project_id, value: 4 }];
  expect((await app.as(team.member).put('/api/custom-fields/values', body)).status).toBe(200);
  expect(await events()).toEqual([]);
});

it('is heard by the live stream and by endpoints', async () => {
  const { task_id } = await buildTask(app, team, project, {});
  const { cursor } = (await app.as(team.member).get('/api/events')).body;
  const hook = { url: 'https://93.184.216.34/hook', events: ['task.field_changed'], team_id: team.team_id };
  const made = await app.as(team.admin).post('/api/webhooks', hook);
  expect(made.status).toBe(201);
  await setFields(app, team, [{ field: severity, task_id, value: 's1' }]);
  // A change is given out once no older transaction runs, of other tests too.
  let told: unknown[] = [];
  await until(async () => {
    told = (await app.as(team.member).get(`/api/events?after=${cursor}&types=task.field_changed`)).body.events;
    return told.length > 0;
  });
  expect(told).toMatchObject([{ type: 'task.field_changed', entity_type: 'task', entity_id: task_id }]);
  await relay.drain();
  const rows = await app.services
    .db('webhook_queue as q')
    .join('webhook_events as e', 'e.event_id', 'q.event_id')
    .where({ webhook_id: made.body.webhook_id });
  expect(rows.map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { entity_id: task_id, field: { key: 'severity', name: 'Severity' }, changes: { text: { from: null, to: 'S1 – down' } } },
  ]);
});
