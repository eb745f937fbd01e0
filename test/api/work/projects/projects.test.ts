import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
const findEvents = (subject: string) => app.services.db('outbox').where({ subject, team_id: team.team_id }).orderBy('outbox_id');
const listIds = (list: { project_id: string }[]) => list.map(({ project_id }) => project_id);

describe('POST /api/projects', () => {
  it('201 answers the envelope of a verified write and leaves audit, activity, an item key and an event', async () => {
    const { status, headers, body } = await app.as(team.member).post('/api/projects', {
      name: ' Apollo ',
      team_id: team.team_id,
      description: '',
      status: null,
      start_date: '2026-12-01T23:30:00-02:00',
    });
    expect(status).toBe(201);
    const { data } = body;
    expect(data).toEqual({
      project_id: expect.any(String),
      name: 'Apollo',
      team_id: team.team_id,
      description: null,
      status: 'active',
      start_date: '2026-12-02',
      end_date: null,
      lead_id: null,
      health: null,
      health_at: null,
      created_by: team.member.user_id,
      created_at: expect.any(String),
    });
    expect(body).toEqual({
      action_id: headers.get('x-correlation-id'),
      status: 'verified',
      verified: true,
      message: 'Project created',
      affected_entities: [{ entity_type: 'project', entity_id: data.project_id, action: 'create' }],
      data,
      rollback_available: true,
      timestamp: expect.any(String),
    });
    expect(await findAudit(data.project_id)).toMatchObject([
      { audit_id: body.action_id, feature: 'projects', action: 'create', severity: 'LOW', team_id: team.team_id },
    ]);
    expect(await app.services.db('activity').where({ entity_id: data.project_id })).toHaveLength(1);
    expect(await app.services.db('item_keys').where({ item_id: data.project_id })).toMatchObject([{ item_type: 'project' }]);
    const [event] = await findEvents('project.created');
    expect(event.payload).toMatchObject({ project: data, actor_id: team.member.user_id });
    expect((await app.as(team.guest).get(`/api/projects/${data.project_id}`)).body).toEqual(data);
  });

  it.each([
    ['a day the calendar lacks', { start_date: '2026-02-30' }, 400],
    ['an empty date', { end_date: '' }, 400],
    ['an end before the start', { start_date: '2026-12-02', end_date: '2026-12-01' }, 400],
    ['no name', { name: undefined }, 422],
    ['a blank name', { name: ' ' }, 422],
    ['201 characters of name', { name: 'x'.repeat(201) }, 422],
    ['5,001 characters of description', { description: 'x'.repeat(5001) }, 422],
    ['a wrong status', { status: 'paused' }, 422],
    ['a number as date', { start_date: 20261201 }, 422],
    ['no team', { team_id: undefined }, 422],
  ])('refuses %s and writes nothing', async (_what, fields, status) => {
    const answer = await app.as(team.member).post('/api/projects', { name: 'x', team_id: team.team_id, ...fields });
    expect(answer.status).toBe(status);
    expect(await app.services.db('projects').where({ team_id: team.team_id })).toEqual([]);
  });

  it('403 refuses a guest, a stranger and a token without the scope; 404 an unknown or malformed team', async () => {
    const body = { name: 'x', team_id: team.team_id };
    expect((await app.as(team.guest).post('/api/projects', body)).status).toBe(403);
    expect((await app.as(await buildPerson(app)).post('/api/projects', body)).status).toBe(403);
    const reader = await buildToken(app, team.member, ['projects:read', 'tasks:write']);
    const refused = await app.as(reader).post('/api/projects', body);
    expect(refused).toMatchObject({ status: 403, body: { message: 'Token is missing the required scope: projects:write' } });
    const writer = await buildToken(app, team.member, ['projects:write']);
    expect((await app.as(writer).post('/api/projects', body)).status).toBe(201);
    for (const team_id of [UNKNOWN, 'garbage']) {
      expect((await app.as(team.member).post('/api/projects', { name: 'x', team_id })).status).toBe(404);
    }
  });
});

describe('GET /api/projects', () => {
  it('200 lists live projects of the caller’s teams, oldest first, by pages', async () => {
    const made = [await buildProject(app, team), await buildProject(app, team), await buildProject(app, team)];
    const trashed = await buildProject(app, team);
    await app.as(team.member).delete(`/api/projects/${trashed.project_id}`);
    const guest = app.as(team.guest);
    const list = async (query: string) => listIds((await guest.get(`/api/projects${query}`)).body);
    expect(await list('')).toEqual(listIds(made));
    expect(await list(`?team_id=${team.team_id}`)).toEqual(listIds(made));
    expect(await list('?limit=1&offset=1')).toEqual(listIds(made.slice(1, 2)));
    expect(await list('?limit=99999999999999999999')).toEqual(listIds(made));
    expect(await list('?offset=99999999999999999999')).toEqual([]);
  });

  it('a list and a record are spaced like every other answer', async () => {
    const { project_id } = await buildProject(app, team);
    const headers = { authorization: `Bearer ${team.guest.token}` };
    for (const path of [`/api/projects?team_id=${team.team_id}`, `/api/projects/${project_id}`]) {
      const text = await (await fetch(`${app.url}${path}`, { headers })).text();
      expect(text).toBe(JSON.stringify(JSON.parse(text)));
    }
  });

  it('200 gives an empty list for a team the caller is not in, an unknown and a malformed one', async () => {
    await buildProject(app, team);
    const stranger = app.as(await buildPerson(app));
    for (const id of [team.team_id, UNKNOWN, 'garbage']) {
      expect(await stranger.get(`/api/projects?team_id=${id}`)).toMatchObject({ status: 200, body: [] });
    }
    expect((await stranger.get('/api/projects')).body).toEqual([]);
  });

  it('200 lists 500 unless asked, and never more than 2,000', async () => {
    const { db } = app.services;
    const row = { team_id: team.team_id, name: 'Many', created_by: team.admin.user_id };
    await db.batchInsert(
      'projects',
      Array.from({ length: 2001 }, () => row),
    );
    const list = async (query: string) => (await app.as(team.guest).get(`/api/projects${query}`)).body;
    expect(await list('')).toHaveLength(500);
    expect(await list('?limit=5000')).toHaveLength(2000);
  });

  it.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'offset=-1', 'limit=1&limit=2'])('422 refuses %s', async (query) => {
    expect((await app.as(team.member).get(`/api/projects?${query}`)).status).toBe(422);
  });

  it('403 to a stranger, 404 unknown, malformed and trashed', async () => {
    const { project_id } = await buildProject(app, team);
    expect((await app.as(await buildPerson(app)).get(`/api/projects/${project_id}`)).status).toBe(403);
    for (const id of [UNKNOWN, 'garbage', project_id.toUpperCase()]) {
      expect((await app.as(team.member).get(`/api/projects/${id}`)).status).toBe(404);
    }
    await app.as(team.member).delete(`/api/projects/${project_id}`);
    expect((await app.as(team.member).get(`/api/projects/${project_id}`)).status).toBe(404);
  });
});

describe('PATCH and PUT /api/projects/:project_id', () => {
  const whole = { description: 'Moon', status: 'completed', start_date: '2026-01-01', end_date: '2026-06-30' };

  it('200 PATCH changes what is given and tells what changed', async () => {
    const { project_id } = await buildProject(app, team, whole);
    const answer = await app.as(team.member).patch(`/api/projects/${project_id}`, { name: 'Artemis', description: '' });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        action_id: answer.headers.get('x-correlation-id'),
        verified: true,
        affected_entities: [{ entity_type: 'project', entity_id: project_id, action: 'update' }],
        data: { ...whole, name: 'Artemis', description: null },
      },
    });
    const changes = { name: { from: 'Apollo', to: 'Artemis' }, description: { from: 'Moon', to: null } };
    const [entry] = await findAudit(project_id);
    expect(entry).toMatchObject({ audit_id: answer.body.action_id, action: 'update' });
    expect(JSON.parse(entry.details)).toEqual({ changes, version: 2 });
    const [event] = await findEvents('project.updated');
    expect(event.payload).toMatchObject({ project: answer.body.data, changes });
  });

  it('200 PATCH without a change leaves its audit entry, but neither activity nor event', async () => {
    const { project_id } = await buildProject(app, team, whole);
    const answer = await app.as(team.member).patch(`/api/projects/${project_id}`, { status: 'completed', team_id: team.team_id });
    expect(await findAudit(project_id)).toMatchObject([{ audit_id: answer.body.action_id }]);
    expect(await app.services.db('activity').where({ entity_id: project_id })).toEqual([]);
    expect(await findEvents('project.updated')).toEqual([]);
  });

  it('200 PUT takes every field back to its default and may repeat the team', async () => {
    const { project_id } = await buildProject(app, team, whole);
    const answer = await app.as(team.member).put(`/api/projects/${project_id}`, { name: 'Bare', team_id: team.team_id });
    expect(answer.body.data).toMatchObject({
      name: 'Bare',
      description: null,
      status: 'active',
      start_date: null,
      end_date: null,
    });
    expect(await findAudit(project_id)).toMatchObject([{ action: 'update', audit_id: answer.body.action_id }]);
  });

  it('400 refuses another team, malformed dates, and an end before the stored start', async () => {
    const { project_id } = await buildProject(app, team, whole);
    const other = await buildTeam(app);
    const member = app.as(team.member);
    const url = `/api/projects/${project_id}`;
    for (const team_id of [other.team_id, 'garbage']) {
      expect((await member.patch(url, { team_id })).status).toBe(400);
      expect((await member.put(url, { name: 'x', team_id })).status).toBe(400);
    }
    expect((await member.patch(url, { end_date: '2025-12-31' })).status).toBe(400);
    expect((await member.patch(url, { end_date: 'soon' })).status).toBe(400);
    expect((await member.put(url, { name: 'x', start_date: '2026-02-02', end_date: '2026-02-01' })).status).toBe(400);
    expect((await member.get(url)).body).toMatchObject(whole);
    expect(await findAudit(project_id)).toEqual([]);
  });

  it('422 refuses a PUT without a name and a null name or status in a PATCH', async () => {
    const { project_id } = await buildProject(app, team);
    const member = app.as(team.member);
    expect((await member.put(`/api/projects/${project_id}`, { status: 'active' })).status).toBe(422);
    expect((await member.patch(`/api/projects/${project_id}`, { name: null })).status).toBe(422);
    expect((await member.patch(`/api/projects/${project_id}`, { status: null })).status).toBe(422);
  });

  it('403 refuses guest and stranger, 404 unknown, malformed and trashed; the scope binds PUT and DELETE, not PATCH', async () => {
    const { project_id } = await buildProject(app, team);
    const url = `/api/projects/${project_id}`;
    const body = { name: 'x' };
    for (const person of [team.guest, await buildPerson(app)]) {
      expect((await app.as(person).patch(url, body)).status).toBe(403);
      expect((await app.as(person).put(url, body)).status).toBe(403);
      expect((await app.as(person).delete(url)).status).toBe(403);
    }
    const token = app.as(await buildToken(app, team.member, ['projects:read']));
    expect((await token.put(url, body)).status).toBe(403);
    expect((await token.delete(url)).status).toBe(403);
    const patched = await token.patch(url, body);
    expect(patched.status).toBe(200);
    expect(patched.headers.get('x-required-scope')).toBe('projects:write');
    await app.as(team.member).delete(url);
    for (const gone of [url, `/api/projects/${UNKNOWN}`, '/api/projects/garbage']) {
      expect((await app.as(team.member).patch(gone, body)).status).toBe(404);
      expect((await app.as(team.member).put(gone, body)).status).toBe(404);
      expect((await app.as(team.member).delete(gone)).status).toBe(404);
    }
  });
});

describe('DELETE /api/projects/:project_id', () => {
  it('200 moves it and its live tasks to the trash as one cascade', async () => {
    const project = await buildProject(app, team);
    const parent = await buildTask(app, team, project);
    const child = await buildTask(app, team, project, { parent_task_id: parent.task_id });
    const earlier = await buildTask(app, team, project);
    await app.as(team.member).delete(`/api/tasks/${earlier.task_id}`);
    const url = `/api/projects/${project.project_id}`;
    const answer = await app.as(team.member).delete(url);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        verified: true,
        soft_deleted: true,
        restore_url: `/api/trash/project/${project.project_id}/restore`,
        retention_days: 30,
        cascade_count: 2,
      },
    });
    for (const { task_id } of [parent, child]) expect((await app.as(team.member).get(`/api/tasks/${task_id}`)).status).toBe(404);
    expect((await app.as(team.member).get(`/api/tasks?project_id=${project.project_id}`)).status).toBe(404);
    const [entry] = await findAudit(project.project_id);
    expect(entry).toMatchObject({ action: 'delete', audit_id: answer.headers.get('x-correlation-id') });
    const [event] = await findEvents('project.deleted');
    expect(event.payload).toMatchObject({ project });
  });

  it('one of 10 racing deletions does it', async () => {
    const { project_id } = await buildProject(app, team);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => app.as(team.member).delete(`/api/projects/${project_id}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(await findAudit(project_id)).toHaveLength(1);
  });

  it('no live task is left in a trashed project by creations at the same time', async () => {
    const member = app.as(team.member);
    for (let round = 0; round < 20; round += 1) {
      const { project_id } = await buildProject(app, team);
      const [trashed, ...made] = await Promise.all([
        member.delete(`/api/projects/${project_id}`),
        ...Array.from({ length: 4 }, () => member.post('/api/tasks', { title: 'Race', project_id })),
      ]);
      expect(trashed.status).toBe(200);
      expect(trashed.body.cascade_count).toBe(made.filter(({ status }) => status === 201).length);
      expect(await app.services.db('tasks').where({ project_id, deleted_at: null })).toEqual([]);
    }
  });
});
