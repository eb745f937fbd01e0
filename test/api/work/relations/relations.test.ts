import { subscribe } from '../../../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { RELATION_TYPES } from '../../../../api/work/relations/rules.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let a: string;
let b: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  project = await buildProject(app, team);
  [a, b] = [await task('a'), await task('b')];
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const db = () => app.services.db;
const task = async (title: string, fields: Record<string, unknown> = {}): Promise<string> =>
  (await buildTask(app, team, project, { title, ...fields })).task_id;
const post = (source_id: string, relation_type: string, target_id: string, by: Person = team.member) =>
  app.as(by).post('/api/work-items/relations', { source_id, target_id, relation_type });
const list = async (id: string, query = '', by: Person = team.guest) => {
  const answer = await app.as(by).get(`/api/work-items/${id}/relations${query}`);
  expect(answer.status).toBe(200);
  return answer.body as Record<string, unknown>[];
};
const findEdges = (...ids: string[]) => db()('relations').whereIn('source_id', ids).orWhereIn('target_id', ids);

describe('POST /api/work-items/relations', () => {
  it('201 stores the edge as given and leaves audit, activity and an event', async () => {
    const { status, body, headers } = await post(a, 'blocked_by', b);
    expect(status).toBe(201);
    expect(body).toEqual({
      relation_id: expect.any(String),
      source_id: a,
      target_id: b,
      relation_type: 'blocked_by',
      created_by: team.member.user_id,
      created_at: expect.any(String),
    });
    expect(await db()('audit_entries').where({ entity_id: body.relation_id })).toMatchObject([
      { feature: 'work_graph', action: 'create', team_id: team.team_id, audit_id: headers.get('x-correlation-id') },
    ]);
    expect(await db()('activity').where({ entity_id: body.relation_id })).toHaveLength(1);
    expect(await db()('outbox').where({ subject: 'relation.created', team_id: team.team_id })).toMatchObject([
      { payload: { relation: body }, project_id: project.project_id },
    ]);
  });

  it.each([
    ['blocks', 'blocking', false],
    ['blocks', 'blocked_by', true],
    ['related_to', 'related_to', true],
    ['caused_by', 'caused_by', false],
  ])('200 answers the stored edge for the same one: %s, then %s, swapped: %s', async (first, second, swapped) => {
    const { body } = await post(a, first, b);
    const again = swapped ? await post(b, second, a) : await post(a, second, b);
    expect([again.status, again.body]).toEqual([200, body]);
    expect(await findEdges(a)).toHaveLength(1);
  });

  it.each(['attached_to', 'caused_by', 'recurrence_of'])('%s has a direction: the reverse is another edge', async (type) => {
    expect((await post(a, type, b)).status).toBe(201);
    expect((await post(b, type, a)).status).toBe(201);
  });

  it('nests a task under another of its project instead of storing an edge', async () => {
    const { status, body } = await post(a, 'belongs_to', b);
    expect(status).toBe(201);
    expect(body).toMatchObject({ relation_id: `parent:${a}`, source_id: a, target_id: b, relation_type: 'belongs_to' });
    expect(await db()('tasks').where({ task_id: a }).first('parent_task_id')).toEqual({ parent_task_id: b });
    expect(await findEdges(a)).toEqual([]);
    expect((await post(b, 'parent_child', a)).status).toBe(200);
  });

  it('stores containment between a project and a task of another project, and refuses the cycle over three items', async () => {
    const other = await buildProject(app, team);
    const c = (await buildTask(app, team, other)).task_id;
    expect((await post(c, 'parent_child', a)).status).toBe(201);
    expect((await post(a, 'parent_child', b)).status).toBe(201);
    const { status, body } = await post(b, 'parent_child', c);
    expect([status, body.error_code]).toEqual([409, 'RESOURCE_CONFLICT']);
    expect(await findEdges(b)).toEqual([]);
  });

  it('409 when a subtask relation would close a cycle through stored edges', async () => {
    const c = (await buildTask(app, team, await buildProject(app, team))).task_id;
    await post(a, 'parent_child', c);
    await post(c, 'parent_child', b);
    expect((await app.as(team.member).patch(`/api/tasks/${a}`, { parent_task_id: b })).status).toBe(409);
    expect((await post(b, 'parent_child', a)).status).toBe(409);
  });

  it('409 when a task would become a subtask of its own descendant, and says what to do', async () => {
    await post(a, 'parent_child', b);
    const { status, body } = await post(b, 'parent_child', a);
    expect([status, body.message]).toEqual([409, 'The relation would close a cycle']);
    expect(body.detail).toContain('Delete a relation between them first');
  });

  it('409 on a cycle of blocks, also through an item in the trash', async () => {
    const c = await task('c');
    await post(a, 'blocks', b);
    await post(b, 'blocks', c);
    await app.as(team.member).delete(`/api/tasks/${b}`);
    expect((await post(c, 'blocks', a)).status).toBe(409);
    expect((await post(a, 'blocked_by', c)).status).toBe(409);
  });

  it('400 for an item with itself, 404 for an unknown or trashed end, 422 for an unknown type', async () => {
    expect((await post(a, 'blocks', a)).status).toBe(400);
    expect((await post(a, 'blocks', UNKNOWN)).status).toBe(404);
    expect((await post('no such id!', 'blocks', a)).status).toBe(404);
    expect((await post(a, 'is_like', b)).status).toBe(422);
    await app.as(team.member).delete(`/api/tasks/${b}`);
    expect((await post(a, 'blocks', b)).status).toBe(404);
  });

  it('needs write access to the source and read access to the target', async () => {
    const other = await buildTeam(app);
    const theirs = (await buildTask(app, other, await buildProject(app, other))).task_id;
    expect((await post(a, 'related_to', theirs)).status).toBe(403);
    expect((await post(theirs, 'related_to', a)).status).toBe(403);
    expect((await post(a, 'related_to', b, team.guest)).status).toBe(403);
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'guest' });
    expect((await post(a, 'related_to', theirs)).status).toBe(201);
    expect((await post(theirs, 'blocks', a)).status).toBe(403);
    expect((await post(a, 'blocked_by', theirs)).status).toBe(201);
  });

  it('409 beyond 500 edges of the own team, while strangers have 500 of their own', async () => {
    const other = await buildTeam(app);
    const stranger = other.member;
    await db()('memberships').insert({ team_id: team.team_id, user_id: stranger.user_id, role: 'guest' });
    const theirs = (await buildTask(app, other, await buildProject(app, other))).task_id;
    const fill = (sourceTeam: string, count: number) =>
      db().raw(
        `with made as (insert into item_keys select uuidv7()::text, 'note' from generate_series(1, ?::int) returning item_id)
        insert into relations (relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
        select 'caused_by', item_id, ?, 'caused', item_id, ?, ?, ?, ?, ? from made`,
        [count, a, a, sourceTeam, team.team_id, sourceTeam, team.member.user_id],
      );
    await fill(other.team_id, 500);
    expect((await post(theirs, 'related_to', a, stranger)).status).toBe(409);
    expect((await post(a, 'related_to', b)).status).toBe(201);
    await fill(team.team_id, 499);
    expect((await post(a, 'blocks', b)).status).toBe(409);
  });
});

describe('checks for cycles', () => {
  /** Puts 10,001 items below or above one item, as its team could do in 21 groups of 500. */
  const fill = (itemId: string, { team_id, admin }: TestTeam, kind: 'contains' | 'blocks', side: 'below' | 'above' = 'below') =>
    db().raw(
      `with made as (insert into item_keys select uuidv7()::text, 'note' from generate_series(1, 10001) returning item_id)
      insert into relations (relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
      select :type, e.source, e.target, :kind, e.source, e.target, :team_id, :team_id, :team_id, :user_id from made
      cross join lateral (select case when :down then :itemId else item_id end, case when :down then item_id else :itemId end) e (source, target)`,
      {
        type: kind === 'contains' ? 'parent_child' : 'blocks',
        kind,
        team_id,
        user_id: admin.user_id,
        itemId,
        down: side === 'below',
      } as never,
    );

  it.each([
    ['contains', 'belongs_to', 'parent_child'],
    ['blocks', 'blocked_by', 'blocks'],
  ] as const)('do not count what a guest’s team hung below an item: %s', async (kind, hangs, type) => {
    const other = await buildTeam(app);
    await db()('memberships').insert({ team_id: team.team_id, user_id: other.member.user_id, role: 'guest' });
    const theirs = (await buildTask(app, other, await buildProject(app, other))).task_id;
    expect((await post(theirs, hangs, b, other.member)).status).toBe(201);
    await fill(theirs, other, kind);
    const c = (await buildTask(app, team, await buildProject(app, team))).task_id;
    expect((await post(a, type, b)).status).toBe(201);
    expect((await post(c, type, b)).status).toBe(201);
    expect((await post(b, type, c)).status).toBe(409);
  });

  it('find a cycle that leads past more than 10,000 items', async () => {
    const [wide, ...chain] = [await task('wide'), await task('c'), await task('d'), await task('e')] as [string, ...string[]];
    expect((await post(b, 'blocks', wide)).status).toBe(201);
    await fill(wide, team, 'blocks');
    for (const [at, id] of chain.entries()) expect((await post(chain[at - 1] ?? b, 'blocks', id)).status).toBe(201);
    expect((await post(a, 'blocks', b)).status).toBe(201);
    const { status, body } = await post(chain.at(-1) as string, 'blocks', a);
    expect([status, body.message]).toEqual([409, 'The relation would close a cycle']);
  });

  it('409 where more than 10,000 items are below and above', async () => {
    const [under, over] = [await task('under'), await task('over')];
    expect((await post(b, 'blocks', under)).status).toBe(201);
    expect((await post(over, 'blocks', a)).status).toBe(201);
    await fill(under, team, 'blocks');
    await fill(over, team, 'blocks', 'above');
    const { status, body } = await post(a, 'blocks', b);
    expect([status, body.message]).toEqual([409, expect.stringContaining('10000 items')]);
  });
});

describe('reading edges', () => {
  it.each(RELATION_TYPES.filter((type) => type !== 'parent_child' && type !== 'belongs_to'))(
    '%s shows from both ends with its direction and effective type',
    async (type) => {
      await post(a, type, b);
      const [out] = await list(a);
      const [into] = await list(b);
      const effective = {
        blocks: ['blocks', 'blocked_by'],
        blocking: ['blocks', 'blocked_by'],
        blocked_by: ['blocked_by', 'blocks'],
      };
      const [atSource, atTarget] = effective[type as keyof typeof effective] ?? [type, type];
      expect(out).toMatchObject({
        relation_type: type,
        direction: 'out',
        effective_type: atSource,
        item: { item_id: b, item_type: 'task', title: 'b', status: 'todo' },
      });
      expect(into).toMatchObject({ relation_type: type, direction: 'in', effective_type: atTarget, item: { item_id: a } });
    },
  );

  it('filters by effective type and by direction', async () => {
    const c = await task('c');
    await post(a, 'blocks', b);
    await post(a, 'blocked_by', c);
    await post(a, 'related_to', c);
    const buildFar = (rows: Record<string, unknown>[]) => rows.map(({ item }) => (item as { item_id: string }).item_id);
    expect(buildFar(await list(a, '?relation_type=blocks'))).toEqual([b]);
    expect(buildFar(await list(a, '?relation_type=blocking'))).toEqual([b]);
    expect(buildFar(await list(a, '?relation_type=blocked_by'))).toEqual([c]);
    expect(buildFar(await list(c, '?relation_type=related_to&direction=in'))).toEqual([a]);
    expect(buildFar(await list(c, '?direction=out'))).toEqual([]);
  });

  it('lists children and parents with subtasks and stored containment', async () => {
    const other = await buildProject(app, team);
    const outside = (await buildTask(app, team, other, { title: 'outside' })).task_id;
    const child = await task('child', { parent_task_id: a });
    await post(a, 'parent_child', outside);
    const children = (await app.as(team.guest).get(`/api/work-items/${a}/children`)).body;
    expect(
      children.map(({ relation_id, item }: { relation_id: string; item: { title: string } }) => [
        item.title,
        relation_id.startsWith('parent:'),
      ]),
    ).toEqual([
      ['child', true],
      ['outside', false],
    ]);
    const parents = (await app.as(team.guest).get(`/api/work-items/${child}/parents`)).body;
    expect(parents).toMatchObject([{ effective_type: 'belongs_to', direction: 'in', item: { item_id: a } }]);
    expect((await app.as(team.guest).get(`/api/work-items/${outside}/parents`)).body).toHaveLength(1);
  });

  it('omits ends that the caller may not read', async () => {
    const other = await buildTeam(app);
    const theirs = (await buildTask(app, other, await buildProject(app, other), { title: 'hidden' })).task_id;
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'guest' });
    await post(a, 'related_to', theirs);
    expect(await list(a, '', team.member)).toHaveLength(1);
    expect(await list(a, '', team.manager)).toEqual([]);
    await db()('memberships').where({ team_id: other.team_id, user_id: team.member.user_id }).delete();
    expect(await list(a, '', team.member)).toEqual([]);
  });

  it('403 for a stranger, 404 for unknown and trashed items', async () => {
    const stranger = await buildPerson(app);
    for (const path of ['relations', 'children', 'parents']) {
      expect((await app.as(stranger).get(`/api/work-items/${a}/${path}`)).status).toBe(403);
      expect((await app.as(team.guest).get(`/api/work-items/${UNKNOWN}/${path}`)).status).toBe(404);
    }
    await app.as(team.member).delete(`/api/tasks/${a}`);
    expect((await app.as(team.guest).get(`/api/work-items/${a}/relations`)).status).toBe(404);
  });

  it('edges of an item in the trash are hidden, come back with it, and end with its purge', async () => {
    const { body } = await post(a, 'related_to', b);
    await app.as(team.member).delete(`/api/tasks/${b}`);
    expect(await list(a)).toEqual([]);
    expect((await app.as(team.member).delete(`/api/work-items/relations/${body.relation_id}`)).status).toBe(404);
    await app.as(team.member).post(`/api/trash/task/${b}/restore`);
    expect(await list(a)).toHaveLength(1);
    await app.as(team.member).delete(`/api/tasks/${b}`);
    expect((await app.as(team.manager).delete(`/api/trash/task/${b}`)).status).toBe(200);
    expect(await findEdges(a, b)).toEqual([]);
  });
});

describe('DELETE /api/work-items/relations/:relation_id', () => {
  it('200 once, then 404; leaves audit and activity', async () => {
    const { body } = await post(a, 'related_to', b);
    const path = `/api/work-items/relations/${body.relation_id}`;
    expect((await app.as(team.guest).delete(path)).status).toBe(403);
    expect(await app.as(team.member).delete(path)).toMatchObject({
      status: 200,
      body: { success: true, relation_id: body.relation_id },
    });
    expect((await app.as(team.member).delete(path)).status).toBe(404);
    expect(await db()('audit_entries').where({ entity_id: body.relation_id, action: 'delete' })).toHaveLength(1);
  });

  it('write access to either end suffices; access to neither is a 403', async () => {
    const other = await buildTeam(app);
    const theirs = (await buildTask(app, other, await buildProject(app, other))).task_id;
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'guest' });
    const { body } = await post(a, 'related_to', theirs);
    const path = `/api/work-items/relations/${body.relation_id}`;
    expect((await app.as(await buildPerson(app)).delete(path)).status).toBe(403);
    expect((await app.as(other.member).delete(path)).status).toBe(200);
  });

  it('un-nests a subtask, and refuses the edge of a recurrence', async () => {
    const child = await task('child', { parent_task_id: a });
    expect((await app.as(team.member).delete(`/api/work-items/relations/parent:${child}`)).status).toBe(200);
    expect(await db()('tasks').where({ task_id: child }).first('parent_task_id')).toEqual({ parent_task_id: null });
    expect((await app.as(team.member).delete(`/api/work-items/relations/parent:${child}`)).status).toBe(404);
    await db()('tasks').where({ task_id: b }).update({ recurrence_of: a });
    expect(await list(b)).toMatchObject([{ relation_id: `recurrence:${b}`, effective_type: 'recurrence_of', direction: 'out' }]);
    expect(await list(a)).toMatchObject([{ relation_id: `recurrence:${b}`, direction: 'in' }]);
    expect((await post(b, 'recurrence_of', a)).status).toBe(200);
    expect((await app.as(team.member).delete(`/api/work-items/relations/recurrence:${b}`)).status).toBe(409);
    expect((await app.as(await buildPerson(app)).delete(`/api/work-items/relations/recurrence:${b}`)).status).toBe(403);
    expect((await app.as(team.member).delete(`/api/work-items/relations/recurrence:${a}`)).status).toBe(404);
    expect((await app.as(team.member).delete('/api/work-items/relations/none')).status).toBe(404);
  });
});
