import { itemWorld } from '../items/world.js';
import type { Person } from '../../../factories/people.js';
import type { SearchResults } from '../../../../api/work/search/schema.js';

/** Every kind of write is found by the next search, without a worker: by those that follow, where a busy machine needs longer than one. */
const world = itemWorld();

const search = async (query: string, by: Person = world.team.guest): Promise<SearchResults> => {
  for (;;) {
    const { status, body } = await world.app.as(by).post('/api/search', { query });
    expect(status).toBe(200);
    if (!body.indexing) return body as SearchResults;
  }
};
const found = async (query: string): Promise<string[]> => (await search(query)).results.map(({ item_id }) => item_id);
const marks = () => world.app.services.db('search_dirty').where({ team_id: world.team.team_id });

describe('an item is found', () => {
  it.each(['note', 'doc', 'whiteboard', 'file'])('after it was created and replaced: %s', async (type) => {
    const { item_id, version } = await world.make(type, {
      title: 'Propellant log',
      ...(type === 'file' ? {} : { description: 'hydrazine' }),
    });
    expect(await found('propellant')).toEqual([item_id]);
    const replaced = await world.member.put(`/api/work-items/${item_id}`, { type, title: 'Oxidizer log', version });
    expect(replaced.status).toBe(200);
    expect(await found('propellant ')).toEqual([]);
    expect(await found('oxidizer')).toEqual([item_id]);
  });

  it('by the content of a note, before and after an update', async () => {
    const { body } = await world.member.post('/api/notes', { title: 'Monday', content: 'We chose kerosene', ...world.project });
    expect(await found('kerosene')).toEqual([body.note_id]);
    expect((await world.member.patch(`/api/notes/${body.note_id}`, { content: 'We chose methane' })).status).toBe(200);
    expect([await found('kerosene '), await found('methane')]).toEqual([[], [body.note_id]]);
  });

  it('by title, description and tags of a task, before and after an update', async () => {
    const { task_id } = await world.task({ title: 'Nozzle', description: 'ablative', tags: ['cooling'] });
    for (const word of ['nozzle', 'ablative', 'cooling']) expect([word, await found(word)]).toEqual([word, [task_id]]);
    await world.member.patch(`/api/tasks/${task_id}`, { title: 'Injector', description: 'pintle', tags: ['hotfire'] });
    for (const word of ['nozzle ', 'ablative ', 'cooling ']) expect([word, await found(word)]).toEqual([word, []]);
    for (const word of ['injector', 'pintle', 'hotfire']) expect([word, await found(word)]).toEqual([word, [task_id]]);
  });

  it('by a comment, an edited one, and not by a deleted one', async () => {
    const { task_id } = await world.task();
    const { body } = await world.member.post(`/api/tasks/${task_id}/comments`, { content: 'The gimbal sticks' });
    expect(await search('gimbal')).toMatchObject({ results: [{ item_id: task_id, snippet: 'The <mark>gimbal</mark> sticks' }] });
    expect((await world.member.patch(`/api/comments/${body.comment_id}`, { content: 'The actuator sticks' })).status).toBe(200);
    expect([await found('gimbal '), await found('actuator')]).toEqual([[], [task_id]]);
    await world.member.delete(`/api/comments/${body.comment_id}`);
    expect(await found('actuator ')).toEqual([]);
  });

  it('as a project, before and after an update', async () => {
    const { body } = await world.member.post('/api/projects', { name: 'Hubble', team_id: world.team.team_id });
    const { project_id } = body.data;
    expect(await found('hubble')).toEqual([project_id]);
    await world.member.patch(`/api/projects/${project_id}`, { description: 'telescope' });
    expect(await found('telescope')).toEqual([project_id]);
  });

  it('when 400 were created at once', async () => {
    const items = Array.from({ length: 400 }, (_, at) => ({ title: `Rivet ${at}`, ...world.project }));
    expect((await world.member.post('/api/tasks/bulk', items)).status).toBe(200);
    expect(await search('rivet')).toMatchObject({ total: 400, showing: 20 });
  });

  it('with its new place after a move, without being indexed again', async () => {
    const { task_id } = await world.task({ title: 'Strut' });
    const { body } = await world.member.post('/api/projects', { name: 'Vega', team_id: world.team.team_id });
    await search('strut');
    const { project_id } = body.data;
    expect((await world.member.patch(`/api/tasks/${task_id}`, { project_id })).status).toBe(200);
    expect(await marks()).toEqual([]);
    expect(await search('strut')).toMatchObject({ results: [{ item_id: task_id, project_id, project_name: 'Vega' }] });
  });
});

describe('the trash', () => {
  it('hides a task with its subtasks at once, and restoring shows them again', async () => {
    const { task_id } = await world.task({ title: 'Fairing' });
    const child = await world.task({ title: 'Fairing hinge', parent_task_id: task_id });
    expect(new Set(await found('fairing'))).toEqual(new Set([task_id, child.task_id]));
    await world.member.delete(`/api/tasks/${task_id}`);
    expect(await search('fairing ')).toMatchObject({ results: [], total: 0 });
    expect(await world.app.services.db('search_documents').whereIn('item_id', [task_id, child.task_id])).toEqual([]);
    expect((await world.member.post(`/api/trash/task/${task_id}/restore`)).status).toBe(200);
    expect(new Set(await found('fairing'))).toEqual(new Set([task_id, child.task_id]));
  });

  it('hides a project with all its items at once; a restored one is whole, a purged one gone', async () => {
    const { project_id } = world.project;
    await world.task({ title: 'Booster' });
    await world.make('note', { title: 'Booster note' });
    const early = await world.task({ title: 'Booster, trashed before' });
    await world.member.delete(`/api/tasks/${early.task_id}`);
    expect((await search('booster')).total).toBe(2);
    await world.member.delete(`/api/projects/${project_id}`);
    expect(await search('booster ')).toMatchObject({ results: [], total: 0 });
    await world.member.post(`/api/trash/project/${project_id}/restore`);
    expect((await search('booster')).total).toBe(2);
    await world.member.delete(`/api/projects/${project_id}`);
    const manager = world.app.as(world.team.manager);
    expect((await manager.delete(`/api/trash/project/${project_id}`)).status).toBe(200);
    expect(await search('booster ')).toMatchObject({ results: [], total: 0 });
    expect(await world.app.services.db('search_documents').where({ team_id: world.team.team_id })).toEqual([]);
  });

  it('hides an item that is still indexed', async () => {
    const { task_id } = await world.task({ title: 'Parachute' });
    expect(await found('parachute')).toEqual([task_id]);
    const { db } = world.app.services;
    await db('tasks').where({ task_id }).update({ deleted_at: db.fn.now(), deleted_by: world.team.member.user_id });
    expect(await search('parachute')).toMatchObject({ results: [], showing: 0 });
  });
});

describe('marks', () => {
  it('are left by changes of what is searched only', async () => {
    const { task_id } = await world.task();
    await search('anything');
    await world.member.patch(`/api/tasks/${task_id}/status`, { status: 'done' });
    await world.member.patch(`/api/tasks/${task_id}`, { priority: 'high', due_date: '2026-12-01' });
    await world.member.patch(`/api/projects/${world.project.project_id}`, { status: 'archived' });
    expect(await marks()).toEqual([]);
    await world.member.patch(`/api/tasks/${task_id}`, { priority: 'low', description: 'x' });
    await world.member.post(`/api/tasks/${task_id}/comments`, { content: 'x' });
    expect(await marks()).toMatchObject([{ item_id: task_id }, { item_id: task_id }]);
  });

  it('go with a change that is rolled back', async () => {
    const refused = await world.member.post('/api/tasks/bulk', [
      { title: 'a', ...world.project, task_id: 'x' },
      { title: 'b', ...world.project, task_id: 'x' },
    ]);
    const count = await marks().whereNot({ item_id: world.project.project_id });
    const tasks = await world.app.services.db('tasks').where({ team_id: world.team.team_id });
    expect([refused.status, count.length]).toEqual([refused.status, tasks.length]);
  });
});

describe('GET /api/work-items?q', () => {
  const list = async (query: Record<string, string>) => {
    for (;;) {
      const { status, body, headers } = await world.member.get(`/api/work-items?${new URLSearchParams(query).toString()}`);
      expect(status).toBe(200);
      if (!headers.has('x-search-indexing')) return (body as { item_id: string }[]).map(({ item_id }) => item_id);
    }
  };

  it('lists what a search finds, in the order of the list and with its other filters', async () => {
    const { task_id } = await world.task({ title: 'Valve task' });
    const note = await world.make('note', { title: 'Other', content: 'about the valve' });
    await world.task({ title: 'Pump' });
    expect(await list({ q: 'valve' })).toEqual([task_id, note.item_id]);
    expect(await list({ q: 'valv', type: 'note' })).toEqual([note.item_id]);
    expect(await list({ q: 'valve', limit: '1', offset: '1' })).toEqual([note.item_id]);
    expect(await list({ q: 'valve', status: 'done' })).toEqual([]);
    expect(await list({ q: 'valve', ...world.project })).toEqual([task_id, note.item_id]);
    expect(await list({ q: '-valve' })).toEqual([]);
    await world.member.post('/api/work-items/relations', {
      source_id: task_id,
      target_id: note.item_id,
      relation_type: 'related_to',
    });
    expect(await list({ q: 'valve', related_to: task_id })).toEqual([note.item_id]);
    expect(await list({ q: 'pump', related_to: task_id })).toEqual([]);
  });

  it('finds nothing of other teams', async () => {
    await world.task({ title: 'Valve' });
    const { member } = await (await import('../../../factories/people.js')).buildTeam(world.app);
    expect((await world.app.as(member).get('/api/work-items?q=valve')).body).toEqual([]);
  });
});
