import { buildPerson, buildProject, buildTeam, buildToken } from '../../../factories/people.js';
import { taskWorld } from './world.js';

const world = taskWorld();

type Fields = Record<string, unknown>;
const create = (fields: Fields) => world.member.post('/api/tasks', { title: 'x', ...world.project, ...fields });
const count = async () => Number((await world.app.services.db('tasks').where(world.project).count())[0]?.['count']);

describe('POST /api/tasks', () => {
  it('201 creates with defaults and leaves audit, activity and an event', async () => {
    const { status, headers, body } = await create({ title: '  Fix it ' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      message: 'Task created',
      data: {
        title: 'Fix it',
        ...world.project,
        team_id: world.team.team_id,
        description: null,
        assigned_to: null,
        status: 'todo',
        priority: 'medium',
        due_date: null,
        tags: [],
        estimated_hours: null,
        actual_hours: 0,
        parent_task_id: null,
        position: null,
        created_by: world.team.member.user_id,
        completed_at: null,
        is_archived: false,
        estimate: null,
        version: 1,
      },
    });
    expect(body.task_id).toBe(body.data.task_id);
    const { audit, activity, events } = await world.traces(body.task_id);
    expect(audit).toHaveLength(1);
    expect(audit[0]).toMatchObject({
      feature: 'tasks',
      action: 'create',
      audit_id: headers.get('x-correlation-id'),
      user_id: world.team.member.user_id,
      team_id: world.team.team_id,
    });
    expect(activity).toHaveLength(1);
    expect(events).toEqual([expect.objectContaining({ kind: 'event', subject: 'task.created', team_id: world.team.team_id })]);
    expect(events[0]?.['payload']).toMatchObject({ task: body.data, actor_id: world.team.member.user_id });
  });

  it('201 takes every field, normalised; null counts as absent', async () => {
    const parent = await world.make();
    const { body } = await create({
      description: 'Words',
      assigned_to: world.team.guest.user_id,
      status: 'In-Progress',
      priority: 'URGENT',
      due_date: '2026-11-20T18:00:00+02:00',
      tags: [' b ', 'a', 'b'],
      estimated_hours: 2.5,
      estimate: 5,
      parent_task_id: parent.task_id,
    });
    expect(body.data).toMatchObject({
      estimate: 5,
      description: 'Words',
      assigned_to: world.team.guest.user_id,
      status: 'in_progress',
      priority: 'urgent',
      due_date: '2026-11-20T16:00:00.000Z',
      tags: ['b', 'a'],
      estimated_hours: 2.5,
      parent_task_id: parent.task_id,
    });
    const optional = [
      'description',
      'assigned_to',
      'status',
      'priority',
      'due_date',
      'tags',
      'estimated_hours',
      'estimate',
      'parent_task_id',
      'task_id',
    ];
    const bare = await create(Object.fromEntries(optional.map((name) => [name, null])));
    expect(bare).toMatchObject({ status: 201, body: { data: { status: 'todo', priority: 'medium', tags: [] } } });
  });

  it('a task that begins done is completed', async () => {
    const { body } = await create({ status: 'done' });
    expect(body.data.completed_at).toBe(body.data.created_at);
  });

  it('ignores what is not a client’s to say', async () => {
    const { body } = await create({
      version: 9,
      created_by: world.team.admin.user_id,
      actual_hours: 3,
      is_archived: true,
      position: 1,
      index: 5,
    });
    expect(body.data).toMatchObject({
      version: 1,
      created_by: world.team.member.user_id,
      actual_hours: 0,
      is_archived: false,
      position: null,
    });
  });

  it('200 gives the stored task when the task_id is repeated, whatever else is said', async () => {
    const task_id = `ci:${world.team.team_id}`;
    const first = await create({ task_id, title: 'Once' });
    const again = await create({ task_id, title: 'Twice', assigned_to: 'nobody' });
    expect(again).toMatchObject({ status: 200, body: { message: 'Task already exists', task_id, data: first.body.data } });
    expect((await world.traces(task_id)).audit).toHaveLength(1);
  });

  it('409 in the same words for every id that is not free: another project, another team, the trash, another kind of item', async () => {
    const other = await buildTeam(world.app);
    const theirs = await buildProject(world.app, other);
    const ours = await buildProject(world.app, world.team);
    const id = (name: string) => `${name}:${world.team.team_id}`;
    await world.app.as(other.member).post('/api/tasks', { title: 'Secret', ...theirs, task_id: id('theirs') });
    await world.member.post('/api/tasks', { title: 'Elsewhere', ...ours, task_id: id('ours') });
    await create({ task_id: id('gone') });
    await world.member.delete(`/api/tasks/${id('gone')}`);
    const refusals = await Promise.all(
      [id('theirs'), id('ours'), id('gone'), ours.project_id].map(async (task_id) => {
        const { status, body } = await create({ task_id });
        return [status, body.error_code, body.message, body.detail];
      }),
    );
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1);
    expect(refusals[0]?.slice(0, 2)).toEqual([409, 'RESOURCE_CONFLICT']);
    // Callers without write access learn nothing about the id either.
    expect(
      (await world.app.as(world.team.guest).post('/api/tasks', { title: 'x', ...world.project, task_id: id('ours') })).status,
    ).toBe(403);
    expect((await world.member.post('/api/tasks', { title: 'x', ...theirs, task_id: id('theirs') })).status).toBe(403);
  });

  it.each([
    ['a malformed due_date', { due_date: '2026-02-30' }, 400],
    ['an empty due_date', { due_date: '' }, 400],
    ['a stranger as assignee', { assigned_to: '019a9f00-0000-7000-8000-000000000001' }, 400],
    ['an unknown parent', { parent_task_id: 'nobody' }, 404],
    ['no title', { title: undefined }, 422],
    ['no project', { project_id: undefined }, 422],
    ['a wrong status', { status: 'later' }, 422],
    ['a wrong priority', { priority: 'most' }, 422],
    ['a reserved id', { task_id: 'bulk' }, 422],
  ])('refuses %s and writes nothing', async (_what, fields, status) => {
    const answer = await create(fields);
    expect(answer.status).toBe(status);
    expect(answer.body.correlation_id).toBe(answer.headers.get('x-correlation-id'));
    expect(await count()).toBe(0);
  });

  it('400 refuses a parent in another project; 404 one in the trash', async () => {
    const elsewhere = await buildProject(world.app, world.team);
    const there = await world.make(elsewhere);
    const gone = await world.make();
    await world.member.delete(`/api/tasks/${gone.task_id}`);
    expect((await create({ parent_task_id: there.task_id })).status).toBe(400);
    expect((await create({ parent_task_id: gone.task_id })).status).toBe(404);
  });

  it('403 refuses a guest, a stranger and a token without the scope; 404 an unknown project and one in the trash', async () => {
    const body = { title: 'x', ...world.project };
    expect((await world.app.as(world.team.guest).post('/api/tasks', body)).status).toBe(403);
    expect((await world.app.as(await buildPerson(world.app)).post('/api/tasks', body)).status).toBe(403);
    expect(
      (await world.app.as(await buildToken(world.app, world.team.member, ['tasks:read'])).post('/api/tasks', body)).status,
    ).toBe(403);
    expect((await create({ project_id: 'garbage' })).status).toBe(404);
    await world.member.delete(`/api/projects/${world.project.project_id}`);
    expect((await create({})).status).toBe(404);
  });
});
