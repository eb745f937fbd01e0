import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { buildAutomation } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, untilRunIs } from '../support/worker.js';

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const notes = async () => (await app.as(team.guest).get('/api/notes')).body as { title: string; project_id: string | null }[];

it('create_note writes a note once, in the project of the event, and note.created starts the next automation', async () => {
  const taking = await buildAutomation(app, team, {
    actions: [{ type: 'create_note', params: { title: 'About {{event.task.title}}', content: 'Opened', kind: 'idea' } }],
  });
  const hearing = await buildAutomation(app, team, {
    trigger_type: 'note.created',
    condition: 'event.note.kind == "idea"',
    actions: [{ type: 'create_task', params: { title: 'Read: {{event.note.title}}' } }],
  });
  await buildTask(app, team, project, { title: 'Hello' });
  const run = await untilRunIs(app, taking, 'succeeded');
  expect(await notes()).toMatchObject([{ title: 'About Hello', kind: 'idea', created_by: team.manager.user_id, ...project }]);
  const { db } = app.services;
  const [effect] = await db('effects').where({ run_id: run.run_id });
  expect(effect).toMatchObject({ entity_type: 'note' });
  const [entry] = await db('audit_entries').where({ entity_id: effect.entity_id });
  expect(JSON.parse(entry.details).caused_by).toEqual({ automation_id: taking.automation_id, run_id: run.run_id });
  await untilRunIs(app, hearing, 'succeeded');
  const titles = (await app.as(team.guest).get('/api/tasks')).body.map(({ title }: { title: string }) => title);
  expect(titles.toSorted()).toEqual(['Hello', 'Read: About Hello']);
});

it('a note without a project goes to the automation’s team, never to another team of its creator', async () => {
  const other = await buildTeam(app);
  const foreign = await buildProject(app, other);
  const { user_id } = team.manager;
  await app.services.db('memberships').insert({ team_id: other.team_id, user_id, role: 'admin' });
  await app.as(team.manager).patch('/api/auth/me', { preferences: { default_team_id: other.team_id } });
  const inside = await buildAutomation(app, team, {
    trigger_type: 'note.created',
    condition: 'event.note.title == "First"',
    actions: [{ type: 'create_note', params: { title: 'Second' } }],
  });
  const outside = await buildAutomation(app, team, {
    trigger_type: 'note.created',
    condition: 'event.note.title == "First"',
    actions: [{ type: 'create_note', params: { title: 'Third', ...foreign } }],
  });
  await app.as(team.member).post('/api/notes', { title: 'First', team_id: team.team_id });
  await untilRunIs(app, inside, 'succeeded');
  await untilRunIs(app, outside, 'failed');
  expect((await notes()).map(({ title, project_id }) => [title, project_id])).toEqual([
    ['First', null],
    ['Second', null],
  ]);
  expect((await app.as(other.member).get('/api/notes')).body).toEqual([]);
});
