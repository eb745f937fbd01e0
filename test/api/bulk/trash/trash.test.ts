import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type Client, type TestApp } from '../../../support/app.js';
import { countParameters } from '../../../support/statements.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let member: Client;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
type Task = { task_id: string };
const task = (fields: Record<string, unknown> = {}) => buildTask(app, team, project, fields);
const under = (parent: Task) => task({ parent_task_id: parent.task_id });
const trashTask = ({ task_id }: Task) => member.delete(`/api/tasks/${task_id}`);
const trashProject = () => member.delete(`/api/projects/${project.project_id}`);
const restoreTask = ({ task_id }: Task, by = member) => by.post(`/api/trash/task/${task_id}/restore`);
const restoreProject = (by = member) => by.post(`/api/trash/project/${project.project_id}/restore`);
const isLive = async ({ task_id }: Task) => (await member.get(`/api/tasks/${task_id}`)).status === 200;
const findAudit = (entityId: string) => app.services.db('audit_entries').where({ entity_id: entityId }).orderBy('timestamp');

describe('POST /api/trash/task/:task_id/restore', () => {
  it('200 brings back the task with its subtree and leaves audit, activity and an event', async () => {
    const parent = await task();
    const child = await under(parent);
    const grandchild = await under(child);
    await trashTask(parent);
    const answer = await restoreTask(parent);
    expect(answer).toMatchObject({
      status: 200,
      body: { message: 'Task restored', success: true, entity_type: 'task', entity_id: parent.task_id, restored_count: 3 },
    });
    const { body } = await member.get(`/api/tasks/${parent.task_id}`);
    expect(body).toMatchObject({
      version: 3,
      subtasks: [{ task_id: child.task_id, subtasks: [{ task_id: grandchild.task_id }] }],
    });
    expect((await findAudit(parent.task_id)).at(-1)).toMatchObject({
      feature: 'tasks',
      action: 'restore',
      audit_id: answer.headers.get('x-correlation-id'),
    });
    expect(await app.services.db('activity').where({ entity_id: parent.task_id, action: 'restore' })).toHaveLength(1);
    const [event] = await app.services.db('outbox').where({ subject: 'task.restored', team_id: team.team_id });
    expect(event.payload).toMatchObject({ task: { task_id: parent.task_id, version: 3 }, actor_id: team.member.user_id });
  });

  it('needs as many parameters for a large tree as for a small one: a statement takes 65,535', async () => {
    const parametersFor = async (children: number): Promise<number> => {
      const parent = await task();
      for (let i = 0; i < children; i += 1) await under(parent);
      return countParameters(async () => {
        expect((await trashTask(parent)).status).toBe(200);
        expect((await restoreTask(parent)).body.restored_count).toBe(children + 1);
      });
    };
    expect(await parametersFor(12)).toBe(await parametersFor(1));
  });

  it('the audit entry of the deletion names the cascade that the trash shows, and its tasks', async () => {
    const parent = await task();
    const child = await under(parent);
    await trashTask(parent);
    const shown = (await member.get(`/api/trash?project_id=${project.project_id}`)).body as { cascade_id: string }[];
    expect(new Set(shown.map(({ cascade_id }) => cascade_id)).size).toBe(1);
    const entry = (await findAudit(parent.task_id)).find(({ action }) => action === 'delete');
    expect(JSON.parse(entry.details)).toEqual({
      cascade_id: shown[0]?.cascade_id,
      cascade_count: 1,
      task_ids: [child.task_id],
      item_ids: [],
    });
  });

  it('200 leaves in the trash what was there before', async () => {
    const parent = await task();
    const earlier = await under(parent);
    const later = await under(parent);
    await trashTask(earlier);
    await trashTask(parent);
    expect((await restoreTask(parent)).body.restored_count).toBe(2);
    expect([await isLive(parent), await isLive(later), await isLive(earlier)]).toEqual([true, true, false]);
    expect((await restoreTask(earlier)).body).toMatchObject({ message: 'Task restored', restored_count: 1 });
    expect((await member.get(`/api/tasks/${earlier.task_id}`)).body.parent_task_id).toBe(parent.task_id);
  });

  it('200 brings a child back at top level while its parent is in the trash, and says so', async () => {
    const parent = await task();
    const child = await under(parent);
    const grandchild = await under(child);
    await trashTask(parent);
    const answer = await restoreTask(child);
    expect(answer.body).toMatchObject({
      message: 'Task restored at top level: its parent is in the trash',
      restored_count: 2,
    });
    const list = (await member.get(`/api/tasks?project_id=${project.project_id}`)).body;
    expect(list).toMatchObject([{ task_id: child.task_id, parent_task_id: null, subtasks: [{ task_id: grandchild.task_id }] }]);
    expect((await restoreTask(parent)).body.restored_count).toBe(1);
    expect((await member.get(`/api/tasks/${parent.task_id}`)).body.subtasks).toEqual([]);
  });

  it('409 while the project is in the trash, naming it', async () => {
    const alone = await task();
    const other = await task();
    await trashTask(alone);
    await trashProject();
    for (const each of [alone, other]) {
      const answer = await restoreTask(each);
      expect(answer).toMatchObject({ status: 409, body: { error_code: 'RESOURCE_CONFLICT' } });
      expect(answer.body.message).toContain('Apollo');
    }
    expect(await app.services.db('tasks').where({ ...project, deleted_at: null })).toEqual([]);
  });

  it('404 unknown, malformed and already live; 403 a guest and a stranger', async () => {
    const live = await task();
    for (const task_id of [live.task_id, UNKNOWN, 'no%20id']) expect((await restoreTask({ task_id })).status).toBe(404);
    await trashTask(live);
    for (const person of [team.guest, await buildPerson(app)]) {
      expect((await restoreTask(live, app.as(person))).status).toBe(403);
    }
    expect(await isLive(live)).toBe(false);
    expect((await findAudit(live.task_id)).map(({ action }) => action)).toEqual(['create', 'delete']);
  });

  it('404 for a kind of thing that is not there', async () => {
    expect((await member.post(`/api/trash/garbage/${UNKNOWN}/restore`)).status).toBe(404);
  });

  it('one of 10 racing restorations does it', async () => {
    const one = await task();
    await under(one);
    await trashTask(one);
    const answers = await Promise.all(Array.from({ length: 10 }, () => restoreTask(one)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect((await findAudit(one.task_id)).filter(({ action }) => action === 'restore')).toHaveLength(1);
  });

  it('no live task is left in a trashed project by restorations at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      project = await buildProject(app, team);
      const one = await task();
      await trashTask(one);
      const [restored, trashed] = await Promise.all([restoreTask(one), trashProject()]);
      expect([200, 409]).toContain(restored.status);
      expect(trashed.body.cascade_count).toBe(restored.status === 200 ? 1 : 0);
      expect(await app.services.db('tasks').where({ ...project, deleted_at: null })).toEqual([]);
    }
  });
});

describe('POST /api/trash/project/:project_id/restore', () => {
  it('200 brings back exactly the tasks that its deletion moved', async () => {
    const earlier = await task();
    const parent = await task();
    const child = await under(parent);
    await trashTask(earlier);
    const before = (await member.get(`/api/projects/${project.project_id}`)).body;
    await trashProject();
    const answer = await restoreProject();
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, entity_type: 'project', entity_id: project.project_id, restored_count: 3 },
    });
    expect((await member.get(`/api/projects/${project.project_id}`)).body).toEqual(before);
    expect(await member.get(`/api/tasks?project_id=${project.project_id}`)).toMatchObject({
      body: [{ task_id: parent.task_id, subtasks: [{ task_id: child.task_id }] }],
    });
    expect(await isLive(earlier)).toBe(false);
    expect((await restoreTask(earlier)).status).toBe(200);
    expect((await findAudit(project.project_id)).at(-1)).toMatchObject({
      feature: 'projects',
      action: 'restore',
      audit_id: answer.headers.get('x-correlation-id'),
    });
    const [event] = await app.services.db('outbox').where({ subject: 'project.restored', team_id: team.team_id });
    expect(event.payload).toMatchObject({ project: before, changes: { deleted_at: { to: null } } });
  });

  it('404 unknown, malformed and already live; 403 a guest and a stranger; one of 10 racing does it', async () => {
    expect((await restoreProject()).status).toBe(404);
    for (const id of [UNKNOWN, 'garbage']) expect((await member.post(`/api/trash/project/${id}/restore`)).status).toBe(404);
    await trashProject();
    for (const person of [team.guest, await buildPerson(app)]) expect((await restoreProject(app.as(person))).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 10 }, () => restoreProject()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect((await findAudit(project.project_id)).filter(({ action }) => action === 'restore')).toHaveLength(1);
  });
});

describe('GET /api/trash', () => {
  it('200 lists what is there, newest first, with the way back, to guests too', async () => {
    const first = await task({ title: 'First' });
    await trashTask(first);
    const second = await task({ title: 'Second' });
    const below = await under(second);
    const { body: deletion } = await trashTask(second);
    const list = (await app.as(team.guest).get('/api/trash')).body;
    expect(list.map(({ entity_id }: { entity_id: string }) => entity_id).slice(0, 2)).toEqual(
      expect.arrayContaining([second.task_id, below.task_id]),
    );
    expect(list).toHaveLength(3);
    const entry = list.find(({ entity_id }: { entity_id: string }) => entity_id === second.task_id);
    expect(entry).toMatchObject({
      entity_type: 'task',
      title: 'Second',
      team_id: team.team_id,
      project_id: project.project_id,
      deleted_at: deletion.deleted_at,
      deleted_by: team.member.user_id,
      retention_days: 30,
      restore_url: deletion.restore_url,
      cascade_count: 1,
    });
    expect(new Date(entry.expires_at).getTime() - new Date(entry.deleted_at).getTime()).toBe(30 * 24 * 60 * 60 * 1000);
    expect(list[2]).toMatchObject({ entity_id: first.task_id, cascade_count: 0 });
  });

  it('200 filters by team, project and kind, and pages; a project counts its tasks', async () => {
    await task();
    await trashProject();
    const list = async (query: string, by = member) => (await by.get(`/api/trash${query}`)).body;
    expect(await list('?entity_type=project')).toMatchObject([
      { entity_id: project.project_id, title: 'Apollo', cascade_count: 1 },
    ]);
    expect(await list(`?project_id=${project.project_id}&team_id=${team.team_id}`)).toHaveLength(2);
    expect(await list('?limit=1&offset=1')).toHaveLength(1);
    expect(await list('?entity_type=note')).toEqual([]);
    for (const query of [`?team_id=${UNKNOWN}`, '?team_id=garbage', `?project_id=${UNKNOWN}`])
      expect(await list(query)).toEqual([]);
    const stranger = app.as(await buildPerson(app));
    expect(await list('', stranger)).toEqual([]);
    expect(await list(`?team_id=${team.team_id}`, stranger)).toEqual([]);
    await restoreProject();
    expect(await list('')).toEqual([]);
  });

  it.each(['limit=0', 'offset=-1', 'entity_type=garbage'])('422 refuses %s', async (query) => {
    expect((await member.get(`/api/trash?${query}`)).status).toBe(422);
  });
});
