/** No user's connections or waits block another user. */
import pg from 'pg';
import { poolUse } from '../../../db/knex-internals.js';
import { expectEnvelope } from '../../envelope/expect-envelope.js';
import { subscribe } from '../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Answer, startApp, type TestApp } from '../../support/app.js';
import { lockWaiters } from '../../support/database.js';
import { captureStatements } from '../../support/statements.js';
import { until } from '../../support/worker.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
/** A connection outside any pool, for a slow transaction. */
let slow: pg.Client;

beforeAll(async () => {
  app = await startApp({}, 'product');
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterAll(() => app.close());
beforeEach(async () => {
  slow = new pg.Client(app.database.url);
  await slow.connect();
  await slow.query('begin');
});
afterEach(() => slow.end());

const db = () => app.services.db;
const many = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth));
const rename = (who: { token: string }, taskId: string): Promise<Answer> =>
  app.as(who).patch(`/api/tasks/${taskId}`, { title: 'renamed' });
const lockTask = (taskId: string) => slow.query('select from tasks where task_id = $1 for update', [taskId]);

it('answers others while changes wait for a locked task', async () => {
  const task = await buildTask(app, team, project);
  const stranger = await buildTeam(app);
  const theirs = await buildProject(app, stranger);
  const [kept, deleted] = [await buildTask(app, stranger, theirs), await buildTask(app, stranger, theirs)];
  await lockTask(task.task_id);
  const stuck = Promise.all(many(32, () => rename(team.member, task.task_id)));
  await until(async () => (await lockWaiters(db())) > 0);
  const client = app.as(stranger.member);
  const answers = await Promise.all([
    client.get('/api/auth/me'),
    client.get(`/api/tasks/${kept.task_id}`),
    client.get('/api/teams'),
    client.get(`/api/tasks?project_id=${theirs.project_id}`),
    rename(stranger.member, kept.task_id),
    client.delete(`/api/tasks/${deleted.task_id}`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  for (const answer of await stuck) {
    expectEnvelope(answer, 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await slow.query('rollback');
});

it('returns 503 for a change that waits too long, and writes nothing', async () => {
  await subscribe(app, team);
  const task = await buildTask(app, team, project);
  await lockTask(task.task_id);
  const answers = await Promise.all([
    rename(team.member, task.task_id),
    app.as(team.member).delete(`/api/tasks/${task.task_id}`),
  ]);
  for (const answer of answers) {
    expectEnvelope(answer, 503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toMatchObject({ error_code: 'INTERNAL_ERROR', message: expect.stringContaining('in progress') });
  }
  await slow.query('rollback');
  expect(await db()('tasks').where({ task_id: task.task_id }).first()).toMatchObject({ version: 1, deleted_at: null });
  expect(await db()('audit_entries').where({ entity_id: task.task_id })).toHaveLength(1);
  expect(await db()('outbox').whereRaw("payload->'task'->>'task_id' = ?", [task.task_id])).toHaveLength(1);
  expect((await rename(team.member, task.task_id)).status).toBe(200);
});

it('with an Idempotency-Key the same request can be sent again', async () => {
  const task = await buildTask(app, team, project);
  await lockTask(task.task_id);
  const comment = () =>
    app
      .as(team.member)
      .post('/api/tasks', { title: 'once', task_id: 'kept-apart', ...project }, { headers: { 'idempotency-key': 'k1' } });
  await slow.query("insert into item_keys values ('kept-apart', 'task')");
  expectEnvelope(await comment(), 503);
  await slow.query('rollback');
  expect((await comment()).status).toBe(201);
});

it('the members of one team together leave connections to others', async () => {
  const crowd = await Promise.all(many(6, () => buildPerson(app)));
  await db()('memberships').insert(crowd.map(({ user_id }) => ({ team_id: team.team_id, user_id, role: 'member' })));
  // Their teams are read beside the first request.
  for (const person of crowd) await app.as(person).get('/api/auth/me');
  await app.as(crowd[0]).get('/api/teams');
  const task = await buildTask(app, team, project);
  const stranger = await buildTeam(app);
  await lockTask(task.task_id);
  const stuck = Promise.all(many(24, (nth) => rename(crowd[nth % 6] as { token: string }, task.task_id)));
  await until(async () => (await lockWaiters(db())) > 0);
  const [answer, held] = await Promise.all([app.as(stranger.member).get('/api/teams'), lockWaiters(db())]);
  expect(answer.status).toBe(200);
  expect(held).toBeLessThanOrEqual(5);
  for (const each of await stuck) expectEnvelope(each, 503);
  await slow.query('rollback');
  expect(poolUse(db())).toMatchObject({ used: 0, waiting: 0 });
});

it('visitors share connections by their address, and keep none from those who have signed in', async () => {
  await slow.query('lock table login_attempts in access exclusive mode');
  const visitor = app.as();
  const stuck = Promise.all(many(16, () => visitor.post('/api/auth/login', { email: team.member.email, password: 'x' })));
  await until(async () => (await lockWaiters(db())) > 0);
  expect((await app.as(team.admin).get('/api/teams')).status).toBe(200);
  expect(await lockWaiters(db())).toBeLessThanOrEqual(3);
  for (const answer of await stuck) expectEnvelope(answer, 503);
  await slow.query('rollback');
});

it('only the task whose id another request is about to use waits', async () => {
  const stranger = await buildTeam(app);
  const theirs = await buildProject(app, stranger);
  await slow.query("insert into item_keys values ('reserved', 'task')");
  const create = () => app.as(team.member).post('/api/tasks', { title: 'x', task_id: 'reserved', ...project });
  const stuck = Promise.all(many(8, create));
  await until(async () => (await lockWaiters(db())) > 0);
  const sent = await captureStatements(() =>
    Promise.all(many(8, () => app.as(stranger.member).post('/api/tasks', { title: 'x', ...theirs }))),
  );
  const shared = sent.filter(({ name }) => name === 'create_tasks_of_many');
  expect(shared.length).toBeGreaterThan(0);
  expect(JSON.stringify(shared)).not.toContain('reserved');
  await slow.query('rollback');
  await stuck;
});
