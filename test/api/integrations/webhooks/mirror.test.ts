/** A copy of a team's work that knows nothing but the events it receives. */
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildAutomation, comment } from '../../../factories/automations.js';
import { buildWebhook } from '../../../factories/webhooks.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { type Receiver, startReceiver } from '../../../support/receiver.js';
import { type Delivery, fanOut, QUICK, readQueue, startDelivery, untilEmpty, verify } from './support.js';

let app: TestApp;
let team: TestTeam;
let member: Client;
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
  member = app.as(team.member);
  receiver.received.length = 0;
});

const db = () => app.services.db;
type Task = { task_id: string };
interface Copy extends Record<string, unknown> {
  live: boolean;
}

/** What a receiver keeps: of each entity the newest state; what was deleted is no longer live. A project's record shows no version. */
function mirror(secret: string): Record<string, Copy> {
  const copies: Record<string, Copy> = {};
  const newest: Record<string, number> = {};
  for (const request of receiver.received) {
    const { type, timestamp, data } = verify(secret, request);
    const id = data['entity_id'] as string;
    const object = data['object'] as { version?: number };
    const order = object.version ?? Date.parse(timestamp);
    if (order < (newest[id] ?? 0)) continue;
    newest[id] = order;
    copies[id] = { ...object, live: !type.endsWith('.deleted') };
  }
  return copies;
}

/** The same of the database, as the API shows it. */
async function stored(): Promise<Record<string, Copy>> {
  const { rows } = await db().raw<{ rows: { id: string; json: Copy; live: boolean }[] }>(
    `select task_id as id, task_json(t) as json, deleted_at is null as live from tasks t where team_id = :team
     union all select project_id::text, json_build_object('project_id', project_id, 'name', name), deleted_at is null
     from projects where team_id = :team`,
    { team: team.team_id },
  );
  return Object.fromEntries(rows.map(({ id, json, live }) => [id, { ...json, live }]));
}

async function compare(webhook: { webhook_id: string; secret: string }): Promise<void> {
  await delivery.fanOut();
  await untilEmpty(app, webhook as never);
  const copies = mirror(webhook.secret);
  const rows = await stored();
  expect(
    Object.keys(copies)
      .filter((id) => copies[id]?.live)
      .toSorted(),
  ).toEqual(
    Object.keys(rows)
      .filter((id) => rows[id]?.live)
      .toSorted(),
  );
  for (const [id, row] of Object.entries(rows)) expect([id, copies[id]]).toEqual([id, expect.objectContaining(row)]);
}

it('a mirror fed by webhooks equals the database after each deletion and restoration', async () => {
  const webhook = await buildWebhook(app, team, receiver.url, {
    events: ['task.created', 'task.updated', 'task.deleted', 'task.restored', 'project.*'],
  });
  const create = async (name: string): Promise<{ project_id: string }> => {
    const { body } = await member.post('/api/projects', { name, team_id: team.team_id });
    return { project_id: body.data.project_id };
  };
  const [one, two] = [await create('Apollo'), await create('Gemini')];
  const make = (fields = {}) => buildTask(app, team, one, fields);
  const under = ({ task_id }: Task, fields = {}) => make({ parent_task_id: task_id, ...fields });
  const ok = async (answer: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await answer;
    expect([status, body]).toEqual([200, body]);
  };
  const [alone, earlier, root, other] = [await make(), await make(), await make(), await make({ title: 'Moves' })];
  const child = await under(root);
  await under(child);
  const moving = await under(other);
  await compare(webhook);

  await ok(member.patch(`/api/tasks/${other.task_id}`, { project_id: two.project_id }));
  await ok(member.delete(`/api/tasks/${root.task_id}`));
  await compare(webhook);
  await ok(member.post(`/api/trash/task/${root.task_id}/restore`));
  await compare(webhook);

  await ok(member.delete(`/api/tasks/${earlier.task_id}`));
  await ok(member.delete(`/api/projects/${one.project_id}`));
  await compare(webhook);
  await ok(member.post(`/api/trash/project/${one.project_id}/restore`));
  await compare(webhook);
  const copies = mirror(webhook.secret);
  expect([earlier, alone, child, moving].map(({ task_id }) => copies[task_id]?.live)).toEqual([false, true, true, true]);

  await ok(member.delete(`/api/projects/${one.project_id}`));
  await ok(app.as(team.manager).delete(`/api/trash/project/${one.project_id}`));
  await compare(webhook);
});

it('events of one cascade share its id, each with an id of its own, which a repeated fan-out gives again', async () => {
  const webhook = await buildWebhook(app, team, receiver.url, { events: ['*'] });
  const project = await buildProject(app, team);
  const [small, large] = [
    await buildTask(app, team, project),
    await buildTask(app, team, project, { description: '長'.repeat(2_000) }),
  ];
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  receiver.received.length = 0;
  await member.delete(`/api/projects/${project.project_id}`);
  const rows = await db()('outbox').where({ team_id: team.team_id, kind: 'event' });
  await delivery.fanOut();
  await db()('outbox').insert(rows.map(({ outbox_id: _given, ...row }) => ({ ...row, payload: JSON.stringify(row.payload) })));
  await delivery.fanOut();
  await untilEmpty(app, webhook);
  const told = receiver.received.map((request) => verify(webhook.secret, request));
  const ids = new Set(told.map(({ data }) => data['event_id']));
  expect(ids.size).toBe(3);
  const { details } = await db()('audit_entries').where({ entity_id: project.project_id, action: 'delete' }).first();
  const { cascade_id } = JSON.parse(details);
  expect(new Set(told.map(({ data }) => data['cascade_id']))).toEqual(new Set([cascade_id]));
  const of = (id: string) => told.find(({ data }) => data['entity_id'] === id);
  expect(of(project.project_id)).toMatchObject({ type: 'project.deleted' });
  expect(of(small.task_id)).toMatchObject({
    type: 'task.deleted',
    data: { project_id: project.project_id, actor_id: team.member.user_id, object: { task_id: small.task_id, version: 2 } },
  });
  expect(of(large.task_id)?.data).toMatchObject({ thin: true });
  expect(of(large.task_id)?.data).not.toHaveProperty('object');
});

it('a large cascade takes few rows of the outbox, none without an endpoint, and starts no automation', async () => {
  await buildAutomation(app, team, { trigger_type: 'task.deleted', actions: [comment('seen')] });
  const fill = async (count: number): Promise<{ project_id: string }> => {
    const project = await buildProject(app, team);
    await db().raw(
      `with made as (insert into item_keys select uuidv7()::text, 'task' from generate_series(1, ?::int) returning item_id)
       insert into tasks (task_id, project_id, team_id, title, created_by) select item_id, ?, ?, 'Many', ? from made`,
      [count, project.project_id, team.team_id, team.member.user_id],
    );
    return project;
  };
  const events = () => db()('outbox').where({ team_id: team.team_id, kind: 'event' }).orderBy('outbox_id');
  const [first, second] = [await fill(5), await fill(250)];
  await member.delete(`/api/projects/${first.project_id}`);
  expect(await events()).toEqual([]);
  const webhook = await buildWebhook(app, team, receiver.url, { events: ['task.deleted'], is_active: true });
  await member.delete(`/api/projects/${second.project_id}`);
  expect((await events()).map(({ subject, payload }) => [subject, payload.tasks.length])).toEqual([
    ['task.cascade_deleted', 100],
    ['task.cascade_deleted', 100],
    ['task.cascade_deleted', 50],
  ]);
  await fanOut(app);
  expect(await readQueue(app, webhook)).toHaveLength(250);
  expect(await db()('automation_runs').where({ team_id: team.team_id })).toEqual([]);
});
