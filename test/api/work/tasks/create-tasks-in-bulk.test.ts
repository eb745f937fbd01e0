import { buildPerson, buildProject, buildTeam, buildToken } from '../../../factories/people.js';
import { ROUNDS, taskWorld } from './world.js';

const world = taskWorld();

type Item = Record<string, unknown>;
const bulk = (items: unknown, query = '') => world.member.post(`/api/tasks/bulk${query}`, items);
const item = (fields: Item = {}): Item => ({ title: 'Do it', project_id: world.project.project_id, ...fields });
const count = async () => Number((await world.app.services.db('tasks').where(world.project).count())[0]?.['count']);
const outcome = (body: { results: { success: boolean; error: { error_code: string } | null }[] }) =>
  body.results.map(({ success, error }) => (success ? 'ok' : error?.error_code));

describe('POST /api/tasks/bulk', () => {
  it('200 gives each item its result in its place, in the words of a single creation', async () => {
    const taken = await world.make({ task_id: `taken:${world.team.team_id}` });
    const items = [
      item({
        title: '  First ',
        tags: ['a', ' a'],
        priority: 'HIGH',
        status: 'In-Progress',
        task_id: `one:${world.team.team_id}`,
      }),
      item({ title: '' }),
      item({ due_date: '2026-02-30' }),
      item({ assigned_to: '019a9f00-0000-7000-8000-000000000001' }),
      item({ parent_task_id: 'nobody' }),
      item({ project_id: 'garbage' }),
      item({ task_id: taken.task_id }),
      'not an object',
      item({ title: 'Last', status: 'done' }),
    ];
    const { status, body } = await bulk(items);
    expect(status).toBe(200);
    expect(outcome(body)).toEqual([
      'ok',
      'VALIDATION_ERROR',
      'INVALID_REQUEST',
      'INVALID_REQUEST',
      'RESOURCE_NOT_FOUND',
      'RESOURCE_NOT_FOUND',
      'ok',
      'VALIDATION_ERROR',
      'ok',
    ]);
    expect(body).toMatchObject({ created: 2, replayed: 1, failed: 6, total: 9 });
    expect(body.results.map((result: Item) => result['index'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(body.results[0].data).toMatchObject({
      title: 'First',
      tags: ['a'],
      priority: 'high',
      status: 'in_progress',
      version: 1,
    });
    expect(body.results[1].error.detail.errors).toEqual([expect.objectContaining({ field: 'body.1.title' })]);
    expect(body.results[7].error.detail.errors[0].field).toBe('body.7');
    expect(body.results[6]).toMatchObject({ task_id: taken.task_id, data: { title: taken.title } });
    expect(body.results[8].data.completed_at).not.toBeNull();
    for (const at of [1, 2, 3, 4, 5]) {
      const single = await world.member.post('/api/tasks', items[at]);
      const { error } = body.results[at];
      expect([single.body.error_code, single.body.message]).toEqual([error.error_code, error.message]);
    }
    expect(await count()).toBe(3);
  });

  it('leaves an audit entry, a line of activity and an event for each task, the first under the request’s id', async () => {
    const { headers, body } = await bulk([item({ title: 'One' }), item({ title: '' }), item({ title: 'Two' })]);
    const request = headers.get('x-correlation-id');
    const made = [body.results[0], body.results[2]];
    for (const [nth, { task_id, data }] of made.entries()) {
      const { audit, activity, events } = await world.traces(task_id);
      expect(audit).toHaveLength(1);
      expect(audit[0]).toMatchObject({ action: 'create', correlation_id: request, user_id: world.team.member.user_id });
      if (nth === 0) expect(audit[0]?.['audit_id']).toBe(request);
      expect(activity).toHaveLength(1);
      expect(events).toHaveLength(1);
      expect(events[0]).toMatchObject({ subject: 'task.created', payload: { task: data }, correlation_id: request });
    }
  });

  it('lists the tasks of one call in the order in which they were sent', async () => {
    const titles = Array.from({ length: 40 }, (_, i) => `Step ${i}`);
    // Ids of the client’s that sort the other way round.
    await bulk(titles.map((title, i) => item({ title, task_id: `${String(99 - i)}:${world.team.team_id}` })));
    const { body } = await world.member.get(`/api/tasks?project_id=${world.project.project_id}`);
    expect(body.map((task: Item) => task['title'])).toEqual(titles);
  });

  it('later items may name an earlier one as their parent, never the other way round', async () => {
    const id = (name: string) => `${name}:${world.team.team_id}`;
    const { body } = await bulk([
      item({ parent_task_id: id('c'), title: 'too early' }),
      item({ task_id: id('a') }),
      item({ task_id: id('b'), parent_task_id: id('a') }),
      item({ task_id: id('c'), parent_task_id: id('b') }),
      item({ parent_task_id: id('c') }),
      item({ task_id: id('bad'), title: '' }),
      item({ parent_task_id: id('bad') }),
    ]);
    expect(outcome(body)).toEqual(['RESOURCE_NOT_FOUND', 'ok', 'ok', 'ok', 'ok', 'VALIDATION_ERROR', 'RESOURCE_NOT_FOUND']);
    const tree = await world.read(id('a'));
    expect(tree).toMatchObject({ subtasks: [{ task_id: id('b'), subtasks: [{ task_id: id('c'), subtasks: [{}] }] }] });
  });

  it('an item that waits for its parent cannot have it from an item behind it', async () => {
    const id = (name: string) => `${name}:${world.team.team_id}`;
    const { body } = await bulk([
      item({ task_id: id('x'), assigned_to: 'nobody' }),
      // Waits for the first; until then the third must not make the parent it names.
      item({ task_id: id('x'), parent_task_id: id('late') }),
      item({ task_id: id('late') }),
    ]);
    expect(outcome(body)).toEqual(['INVALID_REQUEST', 'RESOURCE_NOT_FOUND', 'ok']);
  });

  it('nests 20 deep within one call, and refuses the 21st', async () => {
    const id = (level: number) => `l${level}:${world.team.team_id}`;
    const chain = Array.from({ length: 21 }, (_, i) =>
      item({ task_id: id(i + 1), ...(i === 0 ? {} : { parent_task_id: id(i) }) }),
    );
    const { body } = await bulk(chain);
    expect(outcome(body)).toEqual([...Array<string>(20).fill('ok'), 'INVALID_REQUEST']);
  });

  it('a repeated task_id is a replay in the same project and a conflict in another; after a refusal it is free', async () => {
    const other = await buildProject(world.app, world.team);
    const task_id = `twice:${world.team.team_id}`;
    const { body } = await bulk([
      item({ task_id, assigned_to: 'nobody' }),
      item({ task_id, title: 'Mine' }),
      item({ task_id, title: 'Again' }),
      item({ task_id, project_id: other.project_id }),
    ]);
    expect(outcome(body)).toEqual(['INVALID_REQUEST', 'ok', 'ok', 'RESOURCE_CONFLICT']);
    expect(body).toMatchObject({ created: 1, replayed: 1, failed: 2 });
    expect(body.results[2].data).toMatchObject({ title: 'Mine' });
  });

  it('sent again it creates nothing', async () => {
    const items = Array.from({ length: 10 }, (_, i) => item({ task_id: `ci-${i}:${world.team.team_id}` }));
    const first = await bulk(items);
    const again = await bulk(items);
    expect(first.body).toMatchObject({ created: 10, replayed: 0 });
    expect(again.body).toMatchObject({ created: 0, replayed: 10, results: first.body.results });
    const { audit } = await world.traces(`ci-3:${world.team.team_id}`);
    expect(audit).toHaveLength(1);
  });

  it.each([
    ['422', 'a bad title', { title: ' ' }, 422],
    ['400', 'a bad date', { due_date: 'soon' }, 400],
    ['404', 'an unknown project', { project_id: 'garbage' }, 404],
    ['409', 'a taken id', { task_id: 'taken' }, 409],
  ])('atomic: %s for %s writes nothing and names the first refusal', async (_status, _what, wrong, status) => {
    const elsewhere = await buildProject(world.app, world.team);
    await world.member.post('/api/tasks', { title: 'x', project_id: elsewhere.project_id, task_id: 'taken' });
    const items = [item(), item(), item(wrong), item({ title: '' })];
    const answer = await bulk(items, '?atomic=true');
    expect(answer).toMatchObject({ status, body: { index: 2, success: false } });
    expect(await count()).toBe(0);
    const entries = await world.app.services
      .db('audit_entries')
      .where({ correlation_id: answer.headers.get('x-correlation-id') });
    expect(entries).toEqual([]);
    expect((await bulk(items)).body).toMatchObject({ created: 2, failed: 2 });
  });

  it('atomic: 200 when all is well', async () => {
    const answer = await bulk([item(), item()], '?atomic=1');
    expect(answer).toMatchObject({ status: 200, body: { created: 2, failed: 0 } });
  });

  it.each([
    ['an object', {}],
    ['nothing', []],
    ['501 items', Array.from({ length: 501 }, () => ({ title: 'x' }))],
    ['text', '"x"'],
  ])('422 refuses %s', async (_what, body) => {
    expect((await bulk(body)).status).toBe(422);
  });

  it('422 refuses an atomic that is neither yes nor no', async () => {
    expect((await bulk([item()], '?atomic=maybe')).status).toBe(422);
    expect((await bulk([item()], '?atomic=true&atomic=false')).status).toBe(422);
  });

  it('403 refuses the whole call for one project of others, however bad that item is', async () => {
    const foreign = await buildProject(world.app, await buildTeam(world.app));
    for (const wrong of [{}, { title: 7 }]) {
      const answer = await bulk([item(), item({ ...wrong, project_id: foreign.project_id })]);
      expect(answer).toMatchObject({ status: 403, body: { error_code: 'PERMISSION_DENIED' } });
    }
    expect((await world.app.as(world.team.guest).post('/api/tasks/bulk', [item()])).status).toBe(403);
    expect((await world.app.as(await buildPerson(world.app)).post('/api/tasks/bulk', [item()])).status).toBe(403);
    expect(await count()).toBe(0);
  });

  it('500 items with long texts pass; over 24 MB is 413', async () => {
    const long = 'é'.repeat(2000);
    const { status, body } = await bulk(Array.from({ length: 500 }, () => item({ description: long })));
    expect([status, body.created]).toEqual([200, 500]);
    const raw = Buffer.alloc(24 * 1024 * 1024 + 1, ' ');
    expect((await world.member.post('/api/tasks/bulk', undefined, { raw })).status).toBe(413);
  });

  it('a token without tasks:write may, as the contract has it', async () => {
    const token = await buildToken(world.app, world.team.member, ['tasks:read']);
    expect((await world.app.as(token).post('/api/tasks/bulk', [item()])).status).toBe(200);
    expect((await world.app.as(token).post('/api/tasks', item())).status).toBe(403);
  });

  // So many that the calls meet half-way: without one order for all they lock each other out, and end in a 503.
  it('racing calls with the same ids in opposite order make each task once', async () => {
    for (let round = 0; round < Math.ceil(ROUNDS / 4); round += 1) {
      const ids = Array.from({ length: 300 }, (_, i) => `r${round}.${i}:${world.team.team_id}`);
      const items = ids.map((task_id) => item({ task_id }));
      const answers = await Promise.all([items, items.toReversed(), items, items.toReversed()].map((list) => bulk(list)));
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
      expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(300);
      expect(answers.reduce((sum, { body }) => sum + body.replayed, 0)).toBe(900);
    }
  });
});
