import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildAutomation, comment } from '../../../factories/automations.js';
import { buildRun } from '../../../factories/runs.js';
import { type Answer, type Client, startApp, type TestApp } from '../../../support/app.js';
import { lockWaiters } from '../../../support/database.js';
import { until } from '../../../support/worker.js';

// A role is lowered while its user writes: anything after the demotion is judged by the new role, on every route.

let app: TestApp;
let team: TestTeam;
let writer: Person;
let call: Client;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  writer = team.manager;
  call = app.as(writer);
});

const db = () => app.services.db;
const demote = (role = 'guest') => app.as(team.admin).patch(`/api/teams/${team.team_id}/members/${writer.user_id}`, { role });
const audited = (action?: string) => db()('audit_entries').where({ user_id: writer.user_id, ...(action ? { action } : {}) });

/** A row that the request waits for, and the waiting call. */
type Door = () => Promise<{ table: string; key: Record<string, string>; write: () => Promise<Answer> }>;

const withProject = () => buildProject(app, team);
const withTask = async () => buildTask(app, team, await withProject());

const DOORS: Record<string, Door> = {
  'PATCH a task': async () => {
    const { task_id } = await withTask();
    return { table: 'tasks', key: { task_id }, write: () => call.patch(`/api/tasks/${task_id}`, { title: 'Late' }) };
  },
  'status of a task': async () => {
    const { task_id } = await withTask();
    return { table: 'tasks', key: { task_id }, write: () => call.patch(`/api/tasks/${task_id}/status`, { status: 'done' }) };
  },
  'delete a task': async () => {
    const { task_id } = await withTask();
    return { table: 'tasks', key: { task_id }, write: () => call.delete(`/api/tasks/${task_id}`) };
  },
  'create a task': async () => {
    const { project_id } = await withProject();
    return { table: 'projects', key: { project_id }, write: () => call.post('/api/tasks', { title: 'Late', project_id }) };
  },
  'create a task with a key': async () => {
    const { project_id } = await withProject();
    const headers = { 'idempotency-key': randomUUID() };
    const write = () => call.post('/api/tasks', { title: 'Late', project_id }, { headers });
    return { table: 'projects', key: { project_id }, write };
  },
  'create tasks in bulk': async () => {
    const { project_id } = await withProject();
    return { table: 'projects', key: { project_id }, write: () => call.post('/api/tasks/bulk', [{ title: 'Late', project_id }]) };
  },
  'PATCH a project': async () => {
    const { project_id } = await withProject();
    return { table: 'projects', key: { project_id }, write: () => call.patch(`/api/projects/${project_id}`, { name: 'Late' }) };
  },
  'delete a project': async () => {
    const { project_id } = await withProject();
    return { table: 'projects', key: { project_id }, write: () => call.delete(`/api/projects/${project_id}`) };
  },
  'create a project': async () => ({
    table: 'teams',
    key: { team_id: team.team_id },
    write: () => call.post('/api/projects', { name: 'Late', team_id: team.team_id }),
  }),
  'a comment': async () => {
    const { task_id } = await withTask();
    return { table: 'tasks', key: { task_id }, write: () => call.post(`/api/tasks/${task_id}/comments`, { content: 'Late' }) };
  },
  'a link to the forge': async () => {
    const { task_id } = await withTask();
    const write = () => call.post(`/api/tasks/${task_id}/forge-links`, { repo: 'acme/rocket', issue_number: 7 });
    return { table: 'tasks', key: { task_id }, write };
  },
  'a task out of the trash': async () => {
    const { task_id } = await withTask();
    await app.as(team.admin).delete(`/api/tasks/${task_id}`);
    return { table: 'tasks', key: { task_id }, write: () => call.post(`/api/trash/task/${task_id}/restore`) };
  },
  'purge a task': async () => {
    const { task_id } = await withTask();
    await app.as(team.admin).delete(`/api/tasks/${task_id}`);
    return { table: 'tasks', key: { task_id }, write: () => call.delete(`/api/trash/task/${task_id}`) };
  },
  'switch an automation off': async () => {
    const { automation_id } = await buildAutomation(app, team, { actions: [comment('x')] });
    const write = () => call.patch(`/api/automations/${automation_id}`, { is_active: false });
    return { table: 'automations', key: { automation_id }, write };
  },
  'delete an automation': async () => {
    const { automation_id } = await buildAutomation(app, team, { actions: [comment('x')] });
    return { table: 'automations', key: { automation_id }, write: () => call.delete(`/api/automations/${automation_id}`) };
  },
  'approve a gate': async () => {
    const { run_id } = await buildRun(app, team, { creator: team.member });
    return { table: 'automation_runs', key: { run_id }, write: () => call.post(`/api/automations/runs/${run_id}/approve`) };
  },
  'reject a gate': async () => {
    const { run_id } = await buildRun(app, team, { creator: team.member });
    return { table: 'automation_runs', key: { run_id }, write: () => call.post(`/api/automations/runs/${run_id}/reject`) };
  },
  'replay a failed run': async () => {
    const { run_id } = await buildRun(app, team, { creator: team.member, status: 'failed' });
    return { table: 'automation_runs', key: { run_id }, write: () => call.post(`/api/automations/dead-letter/${run_id}/retry`) };
  },
};

it.each(Object.entries(DOORS))('%s: a guest by the time it could write is refused, and writes nothing', async (_name, door) => {
  const { table, key, write } = await door();
  const before = (await audited()).length;
  const blocker = await db().transaction();
  await blocker(table).where(key).forUpdate();
  const late = write();
  await until(async () => (await lockWaiters(db())) > 0);
  const down = demote();
  let answered = false;
  void down.then(() => {
    answered = true;
  });
  // Either the demotion comes first, or it waits for a writer that has locked the membership: both are a valid order.
  await until(async () => answered || (await lockWaiters(db())) > 1);
  await blocker.rollback();
  const [answer, demoted] = [await late, await down];
  expect(demoted.status).toBe(200);
  const written = (await audited()).length - before;
  if (answer.status === 403) expect(written).toBe(0);
  else {
    expect(answer.status).toBeLessThan(300);
    const [own] = await audited().where({ audit_id: answer.headers.get('x-correlation-id') });
    const [theirs] = await db()('audit_entries').where({ audit_id: demoted.headers.get('x-correlation-id') });
    expect([own.timestamp < theirs.timestamp, _name]).toEqual([true, _name]);
  }
});

it('a repeat under a key from better days answers again and does nothing', async () => {
  const { project_id } = await withProject();
  const headers = { 'idempotency-key': randomUUID() };
  const send = (key = headers) => call.post('/api/tasks', { title: `Once ${uuidv7()}`, project_id }, { headers: key });
  const body = { title: 'Once', project_id };
  const first = await call.post('/api/tasks', body, { headers });
  expect(first.status).toBe(201);
  await demote();
  const before = (await audited()).length;
  const again = await call.post('/api/tasks', body, { headers });
  expect([again.status, again.body.data.task_id]).toEqual([201, first.body.data.task_id]);
  expect((await send({ 'idempotency-key': randomUUID() })).status).toBe(403);
  expect((await audited()).length).toBe(before);
  expect(await db()('tasks').where({ project_id })).toHaveLength(1);
});

it('a concurrently removed member writes nothing more either', async () => {
  const gone = await buildPerson(app);
  await app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: gone.user_id });
  const { task_id } = await withTask();
  const blocker = await db().transaction();
  await blocker('tasks').where({ task_id }).forUpdate();
  const late = app.as(gone).patch(`/api/tasks/${task_id}`, { title: 'Late' });
  await until(async () => (await lockWaiters(db())) > 0);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${gone.user_id}`)).status).toBe(200);
  await blocker.rollback();
  expect((await late).status).toBe(403);
});
