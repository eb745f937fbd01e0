import { up as numberTasks } from '../../../../db/migrations/0112_number_tasks.js';
import { dryRun } from '../../../../api/platform/database/dry-run.js';
import type { Task } from '../../../../api/work/tasks/schema.js';
import { buildCookie, buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

// Tasks are numbered within their team, and people call them by its key: HAR-12.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const read = async (task_id: string): Promise<Task> => (await app.as(team.member).get(`/api/tasks/${task_id}`)).body;
const setKey = (of: TestTeam, key: unknown) => app.as(of.admin).patch(`/api/teams/${of.team_id}`, { key });
const found = async (who: { token: string }, query: string): Promise<string[]> =>
  (await app.as(who).post('/api/search', { query })).body.results.map(({ item_id }: { item_id: string }) => item_id);

describe('numbers', () => {
  it('count the tasks of each team for itself, subtasks and tasks of all projects among them', async () => {
    const other = await buildTeam(app);
    const first = await buildTask(app, team, project);
    await buildTask(app, other, await buildProject(app, other));
    const second = await buildTask(app, team, await buildProject(app, team), {});
    const bulk = [
      { title: 'a', project_id: project.project_id, parent_task_id: first.task_id },
      { title: 'b', project_id: project.project_id },
    ];
    const { body } = await app.as(team.member).post('/api/tasks/bulk', bulk);
    const numbers = body.results.map(({ data }: { data: Task }) => data.number);
    expect([(await read(first.task_id)).number, (await read(second.task_id)).number, ...numbers]).toEqual([1, 2, 3, 4]);
  });

  it('are different for tasks created at once, and a refused creation takes none', async () => {
    const create = (title: string) => app.as(team.member).post('/api/tasks', { title, project_id: project.project_id });
    const created = await Promise.all(Array.from({ length: 40 }, (_, at) => create(at % 4 === 0 ? '' : `t ${at}`)));
    const numbers = created.filter(({ status }) => status === 201).map(({ body }) => body.data.number as number);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  });

  it('wait for no open transaction of the team', async () => {
    const trx = await db().transaction();
    await trx('projects').where(project).first();
    const id = 'held-back';
    await trx.raw(`insert into item_keys values (?, 'task')`, [id]);
    const row = { task_id: id, title: 'x', ...project, team_id: team.team_id, created_by: team.member.user_id };
    const [{ number }] = (await trx('tasks').insert(row).returning('number')) as [{ number: number }];
    const next = await buildTask(app, team, project);
    await trx.rollback();
    expect([number, (await read(next.task_id)).number]).toEqual([1, 2]);
  });

  it('are taken by no dry run', async () => {
    const row = { project_id: project.project_id, team_id: team.team_id, created_by: team.member.user_id, title: 'x' };
    const tried: (number | null)[] = [];
    await dryRun(db(), async (inner) => {
      await inner.raw(`insert into item_keys values ('tried', 'task')`);
      const [{ number }] = (await inner('tasks')
        .insert({ ...row, task_id: 'tried' })
        .returning('number')) as [{ number: number | null }];
      tried.push(number);
    });
    const next = await buildTask(app, team, project);
    expect([...tried, (await read(next.task_id)).number]).toEqual([null, 1]);
  });

  it('stay with the task, and no request sets one', async () => {
    const task = await buildTask(app, team, project);
    const other = await buildProject(app, team);
    const moved = await app.as(team.member).put(`/api/tasks/${task.task_id}`, { project_id: other.project_id, number: 77 });
    expect([moved.status, (await read(task.task_id)).number]).toEqual([moved.status, 1]);
    await app.as(team.member).delete(`/api/tasks/${task.task_id}`);
    await app.as(team.admin).post(`/api/work-items/${task.task_id}/restore`);
    expect((await db()('tasks').where({ task_id: task.task_id }).first()).number).toBe(1);
  });

  it('are written by a role that may create and read no sequence', async () => {
    const trx = await db().transaction();
    const role = `numbers_${process.pid}`;
    await trx.raw(
      `create role ${role}; grant select, insert, update, delete on all tables in schema public to ${role}; set local role ${role}`,
    );
    const [{ team_id }] = (await trx('teams')
      .insert({ name: 'Harbour', created_by: team.admin.user_id })
      .returning('team_id')) as [{ team_id: string }];
    const [place] = (await trx('projects')
      .insert({ team_id, name: 'p', created_by: team.admin.user_id })
      .returning('project_id')) as [{ project_id: string }];
    await trx.raw(`insert into item_keys values ('of-role', 'task')`);
    const row = { task_id: 'of-role', title: 'x', ...place, team_id, created_by: team.admin.user_id };
    expect(await trx('tasks').insert(row).returning('number')).toEqual([{ number: 1 }]);
    await expect(trx.transaction((inner) => inner.raw(`select last_value from task_numbers."${team_id}"`))).rejects.toThrow(
      'permission denied for schema task_numbers',
    );
    await trx.rollback();
  });

  it('end with the row of their team', async () => {
    const [{ team_id }] = (await db()('teams').insert({ name: 'Gone', created_by: team.admin.user_id }).returning('team_id')) as [
      { team_id: string },
    ];
    const exists = async () =>
      (
        await db().raw<{ rows: { is_there: boolean }[] }>(
          `select to_regclass('task_numbers."${team_id}"') is not null as is_there`,
        )
      ).rows[0]?.is_there;
    expect(await exists()).toBe(true);
    await db()('teams').where({ team_id }).delete();
    expect(await exists()).toBe(false);
  });

  it('are given to teams and tasks of before by a migration that goes on where it stopped', async () => {
    const tasks = [await buildTask(app, team, project), await buildTask(app, team, project), await buildTask(app, team, project)];
    const [, second] = tasks as [unknown, { task_id: string }];
    await db()('teams').where({ team_id: team.team_id }).update({ key: null });
    await db()('tasks').where({ team_id: team.team_id }).whereNot({ task_id: second.task_id }).update({ number: null });
    await numberTasks(db());
    await numberTasks(db());
    const numbers = await Promise.all(tasks.map(async ({ task_id }) => (await read(task_id)).number));
    expect(numbers).toEqual([4, 2, 5]);
    expect((await app.as(team.member).get(`/api/teams/${team.team_id}`)).body.key).toBe('TEA');
  });
});

describe('the key of a team', () => {
  it.each([
    ['Harbour', 'HAR'],
    ['Éclair-Küche', 'ECL'],
    ['42nd Street', 'NDS'],
    ['港口', 'T'],
    ['QA', 'QA'],
  ])('of %s is %s', async (name, key) => {
    expect((await app.as(team.admin).post('/api/teams', { name })).body.key).toBe(key);
  });

  it('can be changed by an administrator, in any case', async () => {
    expect((await setKey(team, ' ship ')).body.key).toBe('SHIP');
    expect((await app.as(team.member).get('/api/auth/me')).body.teams).toMatchObject([{ key: 'SHIP' }]);
    for (const key of ['', '1A', 'TOOLONGS', 'A-B', 'Ä', null, 7]) expect((await setKey(team, key)).status).toBe(422);
    expect((await app.as(team.manager).patch(`/api/teams/${team.team_id}`, { key: 'X' })).status).toBe(403);
    const { details } = await db()('audit_entries').where({ entity_id: team.team_id, action: 'update' }).first();
    expect(JSON.parse(details).changes).toEqual({ key: { from: 'TEA', to: 'SHIP' } });
  });
});

describe('a task is found by its name', () => {
  it('first, in any case, by those who may read it', async () => {
    await setKey(team, 'SHIP');
    const task = await buildTask(app, team, project, { title: 'Paint the hull' });
    const mentions = await buildTask(app, team, project, { title: 'After ship-1 comes this' });
    expect(await found(team.guest, 'ship-1')).toEqual([task.task_id, mentions.task_id]);
    expect(await found(await buildPerson(app), 'SHIP-1')).toEqual([]);
    expect(await found(team.member, 'SHIP-99')).toEqual([]);
    await app.as(team.member).delete(`/api/tasks/${task.task_id}`);
    expect(await found(team.member, 'SHIP-1')).toEqual([mentions.task_id]);
  });

  it('in each team of the caller that has the key', async () => {
    const other = await buildTeam(app);
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'guest' });
    await Promise.all([setKey(team, 'DOCK'), setKey(other, 'DOCK')]);
    const mine = await buildTask(app, team, project);
    const theirs = await buildTask(app, other, await buildProject(app, other));
    expect(await found(team.member, 'DOCK-1')).toEqual([mine.task_id, theirs.task_id]);
    expect(await found(team.admin, 'DOCK-1')).toEqual([mine.task_id]);
    const cookie = await buildCookie(app, team.member);
    const go = async (path: string) => {
      const answer = await fetch(`${app.url}${path}`, { headers: { cookie }, redirect: 'manual' });
      return [answer.status, answer.headers.get('location')];
    };
    expect(await go('/app/items/DOCK-1')).toEqual([303, '/app/search?q=DOCK-1']);
    await db()('memberships').where({ team_id: other.team_id, user_id: team.member.user_id }).delete();
    expect(await go('/app/items/dock-1')).toEqual([303, `/app/items/${mine.task_id}`]);
    expect((await go('/app/items/DOCK-2'))[0]).toBe(404);
    // A task whose id a client chose keeps its page; what texts link is the name.
    await app.as(team.member).post('/api/tasks', { ...project, task_id: 'DOCK-1', title: 'Chosen id' });
    expect((await go('/app/items/DOCK-1'))[0]).toBe(200);
    expect(await go('/app/tasks/DOCK-1')).toEqual([303, `/app/items/${mine.task_id}`]);
    expect(await go('/app/dock-1')).toEqual([303, `/app/items/${mine.task_id}`]);
    for (const name of ['DOCK-9', 'DOCK', 'x'.repeat(20)])
      for (const path of [`/app/tasks/${name}`, `/app/${name}`]) expect((await go(path))[0]).toBe(404);
    const page = async (name: string) => (await fetch(`${app.url}/app/${name}`, { headers: { cookie } })).text();
    const words = (html: string) =>
      html
        .split('<main')[1]
        ?.split('</main>')[0]
        ?.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');
    await setKey(other, 'QUAY');
    expect(words(await page('QUAY-1'))).toContain('Page not found');
    expect(words(await page('QUAY-1'))).toBe(words(await page('QUAY-999')));
  });
});
