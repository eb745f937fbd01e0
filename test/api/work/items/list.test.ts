import { buildPerson, buildProject, buildTeam } from '../../../factories/people.js';
import type { Answer } from '../../../support/app.js';
import { listIds, itemWorld, plantItems, UNKNOWN } from './world.js';

const world = itemWorld();
const list = (query: Record<string, string> = {}) => world.member.get(`/api/work-items?${new URLSearchParams(query).toString()}`);
const all = ['task', 'note', 'file', 'whiteboard', 'doc'];
const getTypes = ({ body }: Answer): string[] => body.map(({ type }: { type: string }) => type);

describe('GET /api/work-items', () => {
  it('lists all six types of all the caller’s teams, oldest first, without long texts', async () => {
    const other = await buildTeam(world.app);
    const { user_id } = world.team.member;
    await world.app.services.db('memberships').insert({ team_id: other.team_id, user_id, role: 'guest' });
    const ids: string[] = [world.project.project_id];
    for (const type of all) ids.push((await world.make(type, { content: 'x', extra: 1 })).item_id);
    const theirs = await world.app.as(other.member).post('/api/work-items', { type: 'doc', title: 'x', team_id: other.team_id });
    await buildProject(world.app, await buildTeam(world.app));
    const answer = await list();
    expect(listIds(answer)).toEqual([...ids, theirs.body.item_id]);
    expect(getTypes(answer)).toEqual(['project', ...all, 'doc']);
    expect(answer.body[2]).not.toHaveProperty('content');
    expect(answer.body[1]).toMatchObject({ type: 'task', fields: { extra: 1 } });
    expect(answer.headers.get('x-total-count')).toBe('7');
    expect(answer.headers.get('x-truncated')).toBeNull();
  });

  it('filters by type, status, time, team and project, also together', async () => {
    const task = await world.make('task', { status: 'done' });
    const note = await world.make('note', { status: 'archived' });
    const loose = await world.make('doc', { project_id: null });
    expect(listIds(await list({ type: 'task' }))).toEqual([task.item_id]);
    expect(listIds(await list({ type: 'note' }))).toEqual([note.item_id]);
    expect(listIds(await list({ type: 'whiteboard' }))).toEqual([]);
    expect(listIds(await list({ status: 'Done' }))).toEqual([task.item_id]);
    expect(listIds(await list({ status: 'in-progress' }))).toEqual([]);
    expect(listIds(await list({ status: 'active' }))).toEqual([world.project.project_id, loose.item_id]);
    expect(listIds(await list(world.project))).toEqual([world.project.project_id, task.item_id, note.item_id]);
    expect(listIds(await list({ ...world.project, type: 'note', status: 'archived' }))).toEqual([note.item_id]);
    expect(await list({ team_id: world.team.team_id })).toMatchObject({ body: { length: 4 } });
    const { updated_at } = (await world.member.put(`/api/work-items/${note.item_id}`, { title: 'New' })).body;
    expect(listIds(await list({ updated_since: updated_at }))).toEqual([note.item_id]);
    expect(listIds(await list({ updated_since: '2999-01-01T00:00:00+02:00' }))).toEqual([]);
  });

  it('related_to lists what is related to an item, of one type of relation where that is given', async () => {
    const [hub, doc, file, note] = [
      await world.make('task'),
      await world.make('doc'),
      await world.make('file'),
      await world.make('note'),
    ];
    const relate = (relation_type: string, source: { item_id: string }, target: { item_id: string }) =>
      world.member.post('/api/work-items/relations', { relation_type, source_id: source.item_id, target_id: target.item_id });
    await relate('related_to', hub, doc);
    await relate('blocks', file, hub);
    await relate('blocks', hub, note);
    const child = await world.task({ parent_task_id: hub.item_id });
    const of = { related_to: hub.item_id };
    expect(listIds(await list(of))).toEqual([doc.item_id, file.item_id, note.item_id, child.task_id]);
    expect(listIds(await list({ ...of, relation_type: 'related_to' }))).toEqual([doc.item_id]);
    expect(listIds(await list({ ...of, relation_type: 'blocked_by' }))).toEqual([file.item_id]);
    expect(listIds(await list({ ...of, relation_type: 'blocks' }))).toEqual([note.item_id]);
    expect(listIds(await list({ ...of, relation_type: 'parent_child' }))).toEqual([child.task_id]);
    expect(listIds(await list({ ...of, type: 'file' }))).toEqual([file.item_id]);
    expect(listIds(await list({ related_to: child.task_id }))).toEqual([hub.item_id]);
    expect(listIds(await list({ related_to: UNKNOWN }))).toEqual([]);
    const stranger = world.app.as(await buildPerson(world.app));
    expect((await stranger.get(`/api/work-items?related_to=${hub.item_id}`)).body).toEqual([]);
    expect((await list({ relation_type: 'blocks' })).status).toBe(422);
  });

  it('pages by limit and offset, with links', async () => {
    for (let i = 0; i < 4; i += 1) await world.make('doc');
    const first = await list({ limit: '2' });
    expect(first.headers.get('link')).toBe('</api/work-items?limit=2&offset=2>; rel="next"');
    const second = await list({ limit: '2', offset: '2' });
    const third = await list({ limit: '2', offset: '4' });
    expect([...listIds(first), ...listIds(second), ...listIds(third)]).toEqual(listIds(await list()));
    expect([third.body.length, third.headers.get('x-total-count')]).toEqual([1, '5']);
    expect(third.headers.get('link')).not.toContain('rel="next"');
    expect((await list({ limit: '0' })).status).toBe(422);
  });

  it('[] for a foreign team, 403 for a foreign project, 404 for an unknown one, 422 for filters that cannot be', async () => {
    await world.make('doc');
    const stranger = world.app.as(await buildPerson(world.app));
    expect((await stranger.get('/api/work-items')).body).toEqual([]);
    expect((await stranger.get(`/api/work-items?team_id=${world.team.team_id}`)).body).toEqual([]);
    expect((await stranger.get(`/api/work-items?project_id=${world.project.project_id}`)).status).toBe(403);
    expect((await list({ project_id: UNKNOWN })).status).toBe(404);
    for (const query of [{ type: 'song' }, { status: 'gone' }, { updated_since: 'yesterday' }, { updated_since: '2026-01-01' }])
      expect((await list(query as unknown as Record<string, string>)).status).toBe(422);
  });

  it('streams more than 1,000 items whole and in order, and cuts at 10,000', async () => {
    await plantItems(world, 2_600);
    const { body, headers } = await list();
    expect(new Set(listIds({ body } as Answer)).size).toBe(2_601);
    const times = body.map(({ created_at, item_id }: { created_at: string; item_id: string }) => created_at + item_id);
    expect(times.map((one: string) => one.slice(0, 24))).toEqual(times.map((one: string) => one.slice(0, 24)).toSorted());
    expect([headers.get('x-total-count'), headers.get('x-truncated')]).toEqual(['2601', null]);
    const pages = [await list({ limit: '1500' }), await list({ limit: '1500', offset: '1500' })];
    expect(pages.flatMap(listIds)).toEqual(listIds({ body } as Answer));
    await plantItems(world, 7_400, false);
    const cut = await list();
    expect([cut.body.length, cut.headers.get('x-truncated'), cut.headers.get('link')]).toEqual([10_000, 'true', null]);
    expect(listIds(cut).slice(0, 2_601)).toEqual(listIds({ body } as Answer));
    const end = await list({ limit: '500', offset: '9900' });
    expect([end.body.length, end.headers.get('x-truncated')]).toEqual([100, 'true']);
    expect((await list({ offset: '10000' })).body).toEqual([]);
  }, 120_000);
});
