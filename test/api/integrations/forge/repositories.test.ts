import { v7 as uuidv7 } from 'uuid';
import {
  buildPerson,
  buildProject,
  buildTask,
  buildTeam,
  buildToken,
  type Person,
  type TestTeam,
} from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let repo: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  repo = `acme/rocket-${team.team_id}`;
});

const PATH = '/api/forge/repositories';
const bind = (person: Person | string, fields: Record<string, unknown> = {}) =>
  app.as(person).post(PATH, { repo, team_id: team.team_id, ...fields });
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');
/** A second team, and a way to bind the same repository for it. */
const bindFor = async (person: Person, other: TestTeam, fields = {}) => bind(person, { team_id: other.team_id, ...fields });

describe('POST /api/forge/repositories', () => {
  it('201 for a team admin, with audit entry and a line of activity', async () => {
    const answer = await bind(team.admin, { repo: ` ${repo.toUpperCase()} `, project_id: project.project_id, sync_issues: true });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        binding_id: expect.any(String),
        repo,
        team_id: team.team_id,
        project_id: project.project_id,
        sync_issues: true,
        created_by: team.admin.user_id,
        created_at: expect.stringMatching(/Z$/),
      },
    });
    expect(await findAudit(answer.body.binding_id)).toMatchObject([
      {
        audit_id: answer.headers.get('x-correlation-id'),
        feature: 'forge',
        action: 'create',
        severity: 'MEDIUM',
        team_id: team.team_id,
      },
    ]);
    expect(await app.services.db('activity').where({ entity_id: answer.body.binding_id })).toHaveLength(1);
  });

  it('403 below admin and for strangers, and nothing is written', async () => {
    const stranger = await buildPerson(app);
    for (const person of [team.guest, team.member, team.manager, stranger]) expect((await bind(person)).status).toBe(403);
    expect(await app.services.db('forge_repositories').where({ repo })).toHaveLength(0);
  });

  it('a token acts as its owner', async () => {
    expect((await bind(await buildToken(app, team.admin, ['tasks:read']))).status).toBe(201);
    expect((await bind(await buildToken(app, team.member, ['admin:*']))).status).toBe(403);
  });

  it('409 when it is bound so already, with a project and without', async () => {
    for (const fields of [{}, { project_id: project.project_id }]) {
      expect((await bind(team.admin, fields)).status).toBe(201);
      expect(await bind(team.admin, fields)).toMatchObject({ status: 409, body: { error_code: 'RESOURCE_CONFLICT' } });
    }
    expect((await bind(team.admin, { project_id: (await buildProject(app, team)).project_id })).status).toBe(201);
  });

  it('a second team takes an instance admin', async () => {
    const other = await buildTeam(app);
    const root = await buildPerson(app, { role: 'admin' });
    await bind(team.admin);
    expect(await bindFor(other.admin, other)).toMatchObject({ status: 403, body: { error_code: 'PERMISSION_DENIED' } });
    expect((await bind(await buildToken(app, root, ['admin:*']), { team_id: other.team_id })).status).toBe(403);
    expect((await bindFor(root, other)).status).toBe(201);
    expect((await bind(team.admin, { project_id: project.project_id })).status).toBe(403);
  });

  it('binds one of two teams that bind concurrently', async () => {
    const other = await buildTeam(app);
    const answers = await Promise.all([
      bind(team.admin),
      bindFor(other.admin, other),
      bind(team.admin),
      bindFor(other.admin, other),
    ]);
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([201, 403, 403, 409]);
  });

  it('issue sync needs a project, and a creator who may write there', async () => {
    expect((await bind(team.admin, { sync_issues: true })).status).toBe(422);
    const root = await buildPerson(app, { role: 'admin' });
    expect((await bind(root, { project_id: project.project_id, sync_issues: true })).status).toBe(403);
    expect((await bind(root, { project_id: project.project_id })).status).toBe(201);
  });

  it('the project must be a live one of the team', async () => {
    const other = await buildTeam(app);
    const theirs = await buildProject(app, other);
    expect((await bind(team.admin, theirs)).status).toBe(403);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.admin.user_id, role: 'guest' });
    expect((await bind(team.admin, theirs)).status).toBe(400);
    expect((await bind(team.admin, { project_id: 'garbage' })).status).toBe(404);
    await app.services.db('projects').where(project).update({ deleted_at: new Date() });
    expect((await bind(team.admin, project)).status).toBe(404);
  });

  it.each([
    '',
    'rocket',
    'a/b/c',
    '/rocket',
    'acme/',
    'acme/rock et',
    'https://forge.example/acme/rocket',
    `a/${'b'.repeat(200)}`,
    7,
    null,
  ])('422 for the name %p', async (name) => {
    expect((await bind(team.admin, { repo: name })).status).toBe(422);
  });

  it('404 for a team that is unknown or deleted', async () => {
    expect((await bind(team.admin, { team_id: uuidv7() })).status).toBe(404);
    await app.services.db('teams').where({ team_id: team.team_id }).update({ deleted_at: new Date() });
    expect((await bind(team.admin)).status).toBe(404);
  });
});

describe('GET and DELETE /api/forge/repositories', () => {
  it('lists the team’s own, oldest first, to its admin', async () => {
    const other = await buildTeam(app);
    const [first, second] = [await bind(team.admin), await bind(team.admin, project)];
    await bind(other.admin, { repo: 'acme/else', team_id: other.team_id });
    const list = (person: Person) => app.as(person).get(`${PATH}?team_id=${team.team_id}`);
    expect((await list(team.admin)).body).toEqual([first.body, second.body]);
    for (const person of [team.guest, team.member, team.manager, other.admin]) expect((await list(person)).status).toBe(403);
    expect((await app.as(team.admin).get(`${PATH}?team_id=${uuidv7()}`)).status).toBe(404);
    expect((await app.as(team.admin).get(PATH)).status).toBe(422);
  });

  it('deletes once, audited; 403 below admin, 404 for what is gone', async () => {
    const { binding_id } = (await bind(team.admin)).body;
    const path = `${PATH}/${binding_id}`;
    const other = await buildTeam(app);
    for (const person of [team.guest, team.member, team.manager, other.admin]) {
      expect((await app.as(person).delete(path)).status).toBe(403);
    }
    expect(await app.as(team.admin).delete(path)).toMatchObject({ status: 200, body: { success: true, binding_id } });
    expect((await app.as(team.admin).delete(path)).status).toBe(404);
    expect((await app.as(team.admin).delete(`${PATH}/garbage`)).status).toBe(404);
    expect((await findAudit(binding_id)).map((entry) => entry.action)).toEqual(['create', 'delete']);
    expect((await bind(team.admin)).status).toBe(201);
  });
});

describe('POST /api/tasks/:task_id/forge-links', () => {
  const link = (person: Person, taskId: string, body: Record<string, unknown> = {}) =>
    app.as(person).post(`/api/tasks/${taskId}/forge-links`, { repo: 'Acme/Rocket', issue_number: 7, ...body });

  it('201 once, then 200 with the link that stands; one audit entry', async () => {
    const { task_id } = await buildTask(app, team, project);
    const body = { task_id, repo: 'acme/rocket', number: 7, kind: 'issue', url: null };
    const made = await link(team.member, task_id);
    expect(made).toMatchObject({ status: 201, body });
    expect(await link(team.manager, task_id)).toMatchObject({ status: 200, body });
    const [, entry, ...more] = await findAudit(task_id);
    expect(entry).toMatchObject({ feature: 'forge', action: 'create', audit_id: made.headers.get('x-correlation-id') });
    expect(more).toHaveLength(0);
  });

  it('10 at once make one link', async () => {
    const { task_id } = await buildTask(app, team, project);
    const answers = await Promise.all(Array.from({ length: 10 }, () => link(team.member, task_id)));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(9);
  });

  it('a task shows the links that several made at once', async () => {
    const { db } = app.services;
    const { task_id } = await buildTask(app, team, project);
    const first = await db.transaction();
    await first('forge_links').insert({ task_id, repo: 'acme/rocket', kind: 'issue', number: 1 });
    const second = link(team.member, task_id, { issue_number: 2 });
    // The second waits for the task's row by now.
    for (let waiting = 0; waiting === 0; ) {
      const { rows } = await db.raw<{ rows: [{ n: number }] }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      waiting = rows[0].n;
    }
    await first.commit();
    expect((await second).status).toBe(201);
    const { body } = await app.as(team.member).get(`/api/tasks/${task_id}`);
    expect(body.forge_links.map(({ number }: { number: number }) => number).toSorted()).toEqual([1, 2]);
  });

  it('403 for guests and strangers, 404 for a task that is unknown or in the trash, 422 for a bad number', async () => {
    const { task_id } = await buildTask(app, team, project);
    expect((await link(team.guest, task_id)).status).toBe(403);
    expect((await link(await buildPerson(app), task_id)).status).toBe(403);
    expect((await link(team.member, 'nobody')).status).toBe(404);
    for (const issue_number of [0, 1.5, 2 ** 31, '7', null])
      expect((await link(team.member, task_id, { issue_number })).status).toBe(422);
    await app.as(team.member).delete(`/api/tasks/${task_id}`);
    expect((await link(team.member, task_id)).status).toBe(404);
    expect(await app.services.db('forge_links').where({ task_id })).toHaveLength(0);
  });
});
