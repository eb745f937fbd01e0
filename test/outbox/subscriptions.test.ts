/** An event is written only with a subscriber to its type: one row per owner, updated by every change of an automation. */
import { v7 as uuidv7 } from 'uuid';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { openRelay } from './support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await db()('outbox').delete();
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const getTypes = async (owner_id: string): Promise<string[]> =>
  (await db()('event_subscriptions').where({ owner_id, kind: 'automation' }).first('event_types'))?.event_types ?? [];
const events = () => db()('outbox').where({ kind: 'event' }).pluck<string[]>('subject');
const actions = [comment('seen')];
const make = (fields: Record<string, unknown>, by = team.manager) =>
  app.as(by).post('/api/automations', { name: 'Test', actions, team_id: team.team_id, ...fields });

it('without a subscriber no event is written, and no worker is notified', async () => {
  await buildAutomation(app, await buildTeam(app), { actions });
  const listener = await app.services.db.client.acquireRawConnection();
  let notified = 0;
  listener.on('notification', () => {
    notified += 1;
  });
  await listener.query('listen assent_outbox');
  const task = await buildTask(app, team, project);
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  // Behind what was sent so far, on the same channel.
  const answered = new Promise((resolve) => listener.once('notification', resolve));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = notified;
  await db().raw('notify assent_outbox');
  await answered;
  await listener.end();
  expect(before).toBe(0);
  expect(await events()).toEqual([]);
});

it('with one, what it subscribes to is written, and nothing else', async () => {
  await buildAutomation(app, team, { trigger_type: 'task.completed', actions });
  expect(await getTypes(team.team_id)).toEqual(['task.updated']);
  const task = await buildTask(app, team, project);
  await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Changed' });
  expect(await events()).toEqual(['task.updated']);
});

it('create, update, disable, enable and delete keep the row, whatever the way', async () => {
  const created = await make({ trigger_type: 'task.created' });
  const url = `/api/automations/${created.body.automation_id}`;
  expect(created.status).toBe(201);
  expect(await getTypes(team.team_id)).toEqual(['task.created']);
  const second = await make({ trigger_type: 'forge.issue' });
  expect(await getTypes(team.team_id)).toEqual([
    'forge.issue_closed',
    'forge.issue_opened',
    'forge.issue_reopened',
    'task.created',
  ]);
  await app.as(team.manager).delete(`/api/automations/${second.body.automation_id}`);
  expect(await getTypes(team.team_id)).toEqual(['task.created']);
  await app.as(team.manager).patch(url, { trigger_type: 'comment.created' });
  expect(await getTypes(team.team_id)).toEqual(['comment.created']);
  await app.as(team.manager).post(`${url}/toggle`, { is_active: false });
  expect(await getTypes(team.team_id)).toEqual([]);
  await app.as(team.manager).post(`${url}/toggle`, { is_active: true });
  expect(await getTypes(team.team_id)).toEqual(['comment.created']);
});

it('a personal automation counts for its person, in every team, and moves with the person who takes it over', async () => {
  const heir = await buildPerson(app);
  const created = await make({ trigger_type: 'task.created', team_id: null }, team.member);
  expect(await getTypes(team.member.user_id)).toEqual(['task.created']);
  await app.as(team.manager).post('/api/tasks', { title: 'By another', project_id: project.project_id });
  expect(await events()).toEqual([]);
  await app.as(team.member).post('/api/tasks', { title: 'By the person', project_id: project.project_id });
  expect(await events()).toEqual(['task.created']);
  await db()('automations').where({ automation_id: created.body.automation_id }).update({ created_by: heir.user_id });
  expect([await getTypes(team.member.user_id), await getTypes(heir.user_id)]).toEqual([[], ['task.created']]);
});

it('two automations of a team that change at the same moment are both counted', async () => {
  const types = ['task.created', 'task.updated', 'task.deleted', 'comment.created', 'project.created', 'project.deleted'];
  const made = await Promise.all(types.map((trigger_type) => buildAutomation(app, team, { trigger_type, actions })));
  for (let round = 0; round < 10; round += 1) {
    const wanted = types.map(() => Math.random() < 0.5);
    await Promise.all(
      made.map(({ automation_id }, i) => db()('automations').where({ automation_id }).update({ is_active: wanted[i] })),
    );
    expect(await getTypes(team.team_id)).toEqual(types.filter((_, i) => wanted[i]).toSorted());
  }
});

it('a change that was not committed counts for nothing, and the next one waits for it', async () => {
  const first = await buildAutomation(app, team, { trigger_type: 'task.created', actions });
  const second = await buildAutomation(app, team, { trigger_type: 'task.deleted', actions });
  const open = await db().transaction();
  await open('automations').where(first).update({ is_active: false });
  const other = db()('automations').where(second).update({ is_active: false });
  const ended = other.then(() => true);
  await until(async () => {
    const sql = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    return (await db().raw<{ rowCount: number }>(sql)).rowCount > 0;
  });
  await open.rollback();
  await ended;
  expect(await getTypes(team.team_id)).toEqual(['task.created']);
});

it('an automation enabled while others write receives everything that was asked for after its answer', async () => {
  const created = await make({ trigger_type: 'task.created' });
  const url = `/api/automations/${created.body.automation_id}/toggle`;
  await app.as(team.manager).post(url, { is_active: false });
  const after: string[] = [];
  let enabled = false;
  const writers = Array.from({ length: 4 }, async () => {
    for (let left = 5; left > 0; ) {
      const isAfter = enabled;
      const { task_id } = await buildTask(app, team, project);
      if (!isAfter) continue;
      after.push(task_id);
      left -= 1;
    }
  });
  await app.as(team.manager).post(url, { is_active: true });
  enabled = true;
  await Promise.all(writers);
  const relay = openRelay(app);
  await relay.drain();
  await relay.close();
  const runs = await db()('automation_runs').where({ automation_id: created.body.automation_id }).select('event');
  const seen = runs.map(({ event }) => event.task.task_id as string);
  expect(after.length).toBeGreaterThan(0);
  expect(seen).toEqual(expect.arrayContaining(after));
});

it('writers do not wait for an automation that is being changed', async () => {
  const automation = await buildAutomation(app, team, { actions });
  const open = await db().transaction();
  await open('automations').where(automation).update({ is_active: false });
  await buildTask(app, team, project);
  await open.rollback();
  expect(await events()).toEqual(['task.created']);
});

it('an event that a subscriber has left behind is dropped, also one of a type with a subscriber in another project', async () => {
  const elsewhere = await buildProject(app, team);
  await buildAutomation(app, team, { actions, project_id: elsewhere.project_id });
  await buildTask(app, team, project);
  await db()('outbox').insert({ kind: 'event', subject: 'task.deleted', team_id: team.team_id, correlation_id: uuidv7() });
  expect(await events()).toHaveLength(2);
  const relay = openRelay(app);
  expect((await relay.relay.poll()).dropped).toBe(2);
  await relay.close();
  expect(await events()).toEqual([]);
});
