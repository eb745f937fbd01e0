import { v7 as uuidv7 } from 'uuid';
import { TRIGGERS } from '../../api/automation/language/triggers.js';
import { EVENT_TYPES, type EventType, payloadSchema, triggersOfTypes } from '../../api/platform/events/event-types.js';
import { registerEventTypes } from '../../api/platform/events/register-event-types.js';
import { SUBSCRIBERS } from '../../activities/subscribers.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { subscribe } from '../factories/events.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { PUBLIC_URL } from '../factories/webhooks.js';
import { startApp, type TestApp } from '../support/app.js';
import { probe } from './probe-subscriber.js';
import { openRelay } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
  await db().raw('create table probe_received (subscriber_id uuid, event_id uuid, event_type text)');
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const write = (event: unknown, team_id = team.team_id) =>
  db().raw('select record_change(?::jsonb, ?::jsonb)', [
    JSON.stringify({ request_id: uuidv7(), correlation_id: uuidv7(), actor_type: 'user', user_id: team.member.user_id }),
    JSON.stringify({ team_id, feature: 'billing', action: 'create', entity_type: 'task', entity_id: 'x', event }),
  ]);

it('the table holds the union, each type with the triggers that it may amount to', async () => {
  const rows = await db()('event_types').select<{ event_type: string; triggers: string[] }[]>();
  const table = Object.fromEntries(rows.map(({ event_type, triggers }) => [event_type, triggers.toSorted()]));
  expect(table).toEqual(Object.fromEntries(EVENT_TYPES.map((type) => [type, triggersOfTypes[type].toSorted()])));
});

it('a migration writes missing declared types, and subscribers of the family receive them', async () => {
  await buildAutomation(app, team, { actions: [comment('Seen')] });
  const hook = { url: PUBLIC_URL, events: ['task.*'], team_id: team.team_id };
  const { status } = await app.as(team.admin).post('/api/webhooks', hook);
  expect(status).toBe(201);
  const subscriptions = () =>
    db()('event_subscriptions').where({ owner_id: team.team_id }).orderBy('kind').select('kind', 'event_types');
  const before = await subscriptions();
  expect(await registerEventTypes(db())).toBe(0);
  // As if this version had just added the first one, and another version knew one more.
  await db()('event_types').where({ event_type: 'task.created' }).delete();
  await db()('event_types').insert({ event_type: 'easel.painted', triggers: [] });
  await db().raw('update webhooks set events = events');
  expect(await subscriptions()).not.toEqual(before);
  expect(await registerEventTypes(db())).toBe(1);
  expect(await subscriptions()).toEqual(before);
  expect(await db()('event_types').where({ event_type: 'easel.painted' }).delete()).toBe(1);
});

it.each([[true], [false]])(
  'a change with a type that is not in the union is refused, with a subscriber: %s',
  async (subscribed) => {
    if (subscribed) await subscribe(app, team);
    await expect(write({ type: 'task.craeted', payload: {} })).rejects.toMatchObject({ code: '22023' });
    expect(await db()('audit_entries').where({ team_id: team.team_id, feature: 'billing' })).toEqual([]);
  },
);

it('every trigger that can be had belongs to an event of the union', () => {
  for (const { key, available, sample_payload } of TRIGGERS) {
    if (!available || ['schedule', 'manual', 'webhook'].includes(key)) continue;
    expect(triggersOfTypes[sample_payload['type'] as EventType]).toContain(key);
  }
});

it('written events have the fields of their type', async () => {
  await subscribe(app, team);
  const as = app.as(team.manager);
  const task = await buildTask(app, team, project);
  await as.patch(`/api/tasks/${task.task_id}`, { status: 'in_progress' });
  await as.post(`/api/tasks/${task.task_id}/comments`, { content: 'Seen' });
  await as.delete(`/api/tasks/${task.task_id}`);
  await as.post(`/api/trash/task/${task.task_id}/restore`);
  await as.patch(`/api/projects/${project.project_id}`, { name: 'Renamed' });
  await as.post(`/api/projects/${project.project_id}/updates`, { health: 'on_track', content: 'Fine' });
  const events = await db()('outbox').where({ kind: 'event', team_id: team.team_id }).orderBy('outbox_id');
  expect(events.map(({ subject }) => subject)).toEqual([
    'task.created',
    'task.updated',
    'comment.created',
    'task.deleted',
    'task.restored',
    'project.updated',
    'project_update.created',
  ]);
  for (const { subject, payload, actor_id } of events) {
    expect(payloadSchema(subject).safeParse(payload).error).toBeUndefined();
    expect(actor_id).toBe(payload.actor_id);
  }
});

/** A sample of each type; one about runs is no trigger. */
function buildSample(type: EventType): Record<string, unknown> {
  const trigger = TRIGGERS.find(({ sample_payload }) => sample_payload['type'] === type);
  const { actor_id: _nobody, ...sample } = trigger?.sample_payload ?? {
    entity_type: 'automation_run',
    entity_id: 'x',
    changes: {},
    object: { run_id: 'x' },
  };
  return sample;
}

it('every type reaches every kind that subscribes to it: automations, and a kind that is one file and one line', async () => {
  const automations = new Map<string, string>();
  for (const type of EVENT_TYPES) {
    if (triggersOfTypes[type].length === 0) continue;
    if (triggersOfTypes[type].length === 1 && /^(automation|approval)\./.test(type)) continue;
    const { automation_id } = await buildAutomation(app, team, { trigger_type: type, actions: [comment('seen')] });
    automations.set(type, automation_id);
  }
  await db()('event_subscriptions').insert({ owner_id: team.team_id, kind: 'probe', event_types: EVENT_TYPES });
  for (const type of EVENT_TYPES) await write({ type, payload: buildSample(type) });
  const relay = openRelay(app, undefined, { subscribers: [...SUBSCRIBERS, probe] });
  await relay.drain();
  await relay.close();
  const received = await db()('probe_received').where({ subscriber_id: team.team_id }).pluck('event_type');
  expect(received).toHaveLength(EVENT_TYPES.length);
  expect(new Set(received)).toEqual(new Set(EVENT_TYPES));
  const runs = await db()('automation_runs').where({ team_id: team.team_id }).select('automation_id', 'trigger_type');
  expect(Object.fromEntries(runs.map(({ trigger_type, automation_id }) => [trigger_type, automation_id]))).toEqual(
    Object.fromEntries(automations),
  );
  expect(await db()('outbox').where({ kind: 'event' })).toEqual([]);
});
