import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const auditOf = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');

describe('POST /api/tasks', () => {
  it('201 creates with defaults and leaves audit, activity and an event', async () => {
    const { status, headers, body } = await app
      .as(team.member)
      .post('/api/tasks', { title: '  Fix it ', project_id: project.project_id });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      message: 'Task created',
      data: { title: 'Fix it', status: 'todo', priority: 'medium', tags: [], actual_hours: 0, version: 1 },
    });
    expect(body.task_id).toBe(body.data.task_id);
    const [entry] = await auditOf(body.task_id);
    expect(entry).toMatchObject({
      feature: 'tasks',
      action: 'create',
      audit_id: headers.get('x-correlation-id'),
      user_id: team.member.user_id,
      team_id: team.team_id,
    });
    expect(await app.services.db('activity').where({ entity_id: body.task_id })).toHaveLength(1);
    const [event] = await app.services.db('outbox').whereRaw("payload->'task'->>'task_id' = ?", [body.task_id]);
    expect(event).toMatchObject({
      kind: 'event',
      subject: 'task.created',
      team_id: team.team_id,
      payload: { task: body.data, actor_id: team.member.user_id },
    });
  });

  it('200 gives the stored task when the task_id is repeated, and 409 on another project', async () => {
    const other = await buildProject(app, team);
    const member = app.as(team.member);
    const first = await member.post('/api/tasks', {
      title: 'Once',
      project_id: project.project_id,
      task_id: `ci:${team.team_id}`,
    });
    const again = await member.post('/api/tasks', {
      title: 'Twice',
      project_id: project.project_id,
      task_id: `ci:${team.team_id}`,
    });
    expect(again).toMatchObject({ status: 200, body: { message: 'Task already exists', data: first.body.data } });
    const elsewhere = await member.post('/api/tasks', {
      title: 'Twice',
      project_id: other.project_id,
      task_id: `ci:${team.team_id}`,
    });
    expect(elsewhere).toMatchObject({ status: 409, body: { error_code: 'RESOURCE_CONFLICT' } });
    expect(await auditOf(first.body.task_id)).toHaveLength(1);
  });

  it('one task and one audit entry come of 20 racing creates with the same task_id', async () => {
    const task_id = `race:${team.team_id}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        app.as(team.member).post('/api/tasks', { title: 'Race', project_id: project.project_id, task_id }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(19);
    expect(await auditOf(task_id)).toHaveLength(1);
  });

  it.each([
    ['a malformed due_date', { due_date: '2026-02-30' }, 400],
    ['an empty due_date', { due_date: '' }, 400],
    ['a stranger as assignee', { assigned_to: '019a9f00-0000-7000-8000-000000000001' }, 400],
    ['an unknown parent', { parent_task_id: 'nobody' }, 400],
    ['an empty title', { title: '   ' }, 422],
    ['201 characters of title', { title: 'x'.repeat(201) }, 422],
    ['a wrong status', { status: 'later' }, 422],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 422],
    ['a reserved id', { task_id: 'bulk' }, 422],
    ['a NUL in the title', { title: 'a\0b' }, 422],
  ])('refuses %s and writes nothing', async (_what, fields, status) => {
    const answer = await app.as(team.member).post('/api/tasks', { title: 'x', project_id: project.project_id, ...fields });
    expect(answer.status).toBe(status);
    expect(answer.body.correlation_id).toBe(answer.headers.get('x-correlation-id'));
    expect(await app.services.db('tasks').where(project)).toHaveLength(0);
  });

  it('403 refuses a guest and a stranger, 404 an unknown project', async () => {
    const body = { title: 'x', project_id: project.project_id };
    expect((await app.as(team.guest).post('/api/tasks', body)).status).toBe(403);
    expect((await app.as(await buildPerson(app)).post('/api/tasks', body)).status).toBe(403);
    expect((await app.as(team.member).post('/api/tasks', { ...body, project_id: 'garbage' })).status).toBe(404);
  });
});

describe('PATCH /api/tasks/:task_id', () => {
  it('200 changes the fields, raises the version and tells what changed', async () => {
    const task = await buildTask(app, team, project);
    const answer = await app
      .as(team.member)
      .patch(`/api/tasks/${task.task_id}`, { title: 'New', status: 'In-Progress', tags: ['a', 'a '], version: 1 });
    expect(answer).toMatchObject({ status: 200, body: { message: 'Task updated' } });
    expect(answer.headers.get('etag')).toBe('"2"');
    const read = await app.as(team.guest).get(`/api/tasks/${task.task_id}`);
    expect(read.body).toMatchObject({ title: 'New', status: 'in_progress', tags: ['a'], version: 2, subtasks: [] });
    const entries = await auditOf(task.task_id);
    expect(JSON.parse(entries[1].details)).toMatchObject({
      changes: { title: { from: task.title, to: 'New' }, status: { from: 'todo', to: 'in_progress' } },
    });
  });

  it('409 refuses a stale version and leaves no trace; If-Match works alike', async () => {
    const task = await buildTask(app, team, project);
    const member = app.as(team.member);
    expect((await member.patch(`/api/tasks/${task.task_id}`, { title: 'Late', version: 7 })).status).toBe(409);
    expect((await member.patch(`/api/tasks/${task.task_id}`, { title: 'Late' }, { headers: { 'if-match': '"7"' } })).status).toBe(
      409,
    );
    expect(
      (await member.patch(`/api/tasks/${task.task_id}`, { title: 'Late', version: 1 }, { headers: { 'if-match': '"7"' } }))
        .status,
    ).toBe(400);
    expect(await auditOf(task.task_id)).toHaveLength(1);
  });

  it('keeps the version when nothing changes', async () => {
    const task = await buildTask(app, team, project);
    const answer = await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: task.title });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(await auditOf(task.task_id)).toHaveLength(1);
  });

  it('one of 20 racing writers with the same version wins', async () => {
    const task = await buildTask(app, team, project);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: `w${i}`, version: 1 }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
  });
});

it('status endpoint takes the four exact values, sets and clears completed_at', async () => {
  const task = await buildTask(app, team, project);
  const member = app.as(team.member);
  expect((await member.patch(`/api/tasks/${task.task_id}/status`, { status: 'in-progress' })).status).toBe(422);
  expect((await member.put(`/api/tasks/${task.task_id}/status`, { status: 'done' })).status).toBe(200);
  expect((await member.get(`/api/tasks/${task.task_id}`)).body.completed_at).not.toBeNull();
  await member.patch(`/api/tasks/${task.task_id}/status`, { status: 'todo' });
  expect((await member.get(`/api/tasks/${task.task_id}`)).body.completed_at).toBeNull();
});

it('lists nested, by project, by team and over everything visible; foreign team is empty', async () => {
  const parent = await buildTask(app, team, project, { title: 'Parent' });
  const child = await buildTask(app, team, project, {
    title: 'Child',
    parent_task_id: parent.task_id,
    assigned_to: team.member.user_id,
  });
  const guest = app.as(team.guest);
  const nested = [{ task_id: parent.task_id, subtasks: [{ task_id: child.task_id, subtasks: [] }] }];
  expect((await guest.get(`/api/tasks?project_id=${project.project_id}`)).body).toMatchObject(nested);
  expect((await guest.get(`/api/tasks?team_id=${team.team_id}`)).body).toMatchObject(nested);
  expect((await guest.get('/api/tasks')).body).toMatchObject(nested);
  expect((await app.as(team.member).get('/api/tasks/my')).body).toMatchObject([{ task_id: child.task_id }]);
  const stranger = app.as(await buildPerson(app));
  expect((await stranger.get(`/api/tasks?team_id=${team.team_id}`)).body).toEqual([]);
  expect((await stranger.get(`/api/tasks?project_id=${project.project_id}`)).status).toBe(403);
});

it('deletes a task with its subtree; reads then answer 404', async () => {
  const parent = await buildTask(app, team, project);
  const child = await buildTask(app, team, project, { parent_task_id: parent.task_id });
  const answer = await app.as(team.member).delete(`/api/tasks/${parent.task_id}`);
  expect(answer).toMatchObject({
    status: 200,
    body: { soft_deleted: true, retention_days: 30, restore_url: `/api/trash/task/${parent.task_id}/restore` },
  });
  for (const id of [parent.task_id, child.task_id]) expect((await app.as(team.member).get(`/api/tasks/${id}`)).status).toBe(404);
});
