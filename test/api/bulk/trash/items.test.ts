import { purgeExpired } from '../../../../api/bulk/trash/purge-expired.js';
import { buildPerson } from '../../../factories/people.js';
import { captureStatements } from '../../../support/statements.js';
import { itemWorld, plantItems, UNKNOWN } from '../../work/items/world.js';

// Notes, files, whiteboards and docs in the trash: alone, and with their project.

const world = itemWorld();
const TYPES = ['note', 'file', 'whiteboard', 'doc'] as const;
type Item = { item_id: string };

const db = () => world.app.services.db;
const get = ({ item_id }: Item) => world.member.get(`/api/work-items/${item_id}`);
const remove = ({ item_id }: Item) => world.member.delete(`/api/work-items/${item_id}`);
const removeProject = () => world.member.delete(`/api/projects/${world.project.project_id}`);
const restore = (type: string, { item_id }: Item, by = world.member) => by.post(`/api/trash/${type}/${item_id}/restore`);
const restoreProject = () => world.member.post(`/api/trash/project/${world.project.project_id}/restore`);
const purge = (type: string, { item_id }: Item, by = world.app.as(world.team.manager)) =>
  by.delete(`/api/trash/${type}/${item_id}`);
const trash = async (query = '') => (await world.member.get(`/api/trash?team_id=${world.team.team_id}${query}`)).body;
const findAudit = ({ item_id }: Item) => db()('audit_entries').where({ entity_id: item_id }).orderBy('timestamp');
const buildKeys = (ids: string[]) => db()('item_keys').whereIn('item_id', ids).pluck('item_id');
const longAgo = (table: string, where: object) =>
  db()(table)
    .where(where)
    .update({ deleted_at: db().raw("now() - interval '31 days'") });

describe('one item', () => {
  it.each(TYPES)('a %s is listed, restored as it was, and purged with its key and its relations', async (type) => {
    const item = await world.make(type, { extra: 1 });
    const before = (await get(item)).body;
    await remove(item);
    expect(await trash(`&entity_type=${type}`)).toMatchObject([
      {
        entity_type: type,
        entity_id: item.item_id,
        title: `A ${type}`,
        ...world.project,
        deleted_by: world.team.member.user_id,
        restore_url: `/api/trash/${type}/${item.item_id}/restore`,
        cascade_count: 0,
      },
    ]);
    for (const other of ['task', ...TYPES].filter((one) => one !== type))
      expect(await trash(`&entity_type=${other}`)).toEqual([]);
    expect(await restore(type, item)).toMatchObject({ status: 200, body: { entity_type: type, restored_count: 1 } });
    expect((await get(item)).body).toEqual({ ...before, version: 3 });
    const task = await world.task();
    const relation = { source_id: item.item_id, target_id: task.task_id, relation_type: 'related_to' };
    expect((await world.member.post('/api/work-items/relations', relation)).status).toBe(201);
    await remove(item);
    expect(await purge(type, item)).toMatchObject({ status: 200, body: { success: true, purged: 1 } });
    expect([await buildKeys([item.item_id]), await db()('relations').where(relation)]).toEqual([[], []]);
    const actions = (await findAudit(item)).map(({ action }) => action);
    expect(actions).toEqual(['create', 'delete', 'restore', 'delete', 'purge']);
  });

  it('404 what is live, unknown or of another type; 403 below the role, 409 while its project is in the trash', async () => {
    const [item, alone] = [await world.make('note'), await world.make('note')];
    for (const one of [item, { item_id: UNKNOWN }, { item_id: 'garbage' }])
      expect([(await restore('note', one)).status, (await purge('note', one)).status]).toEqual([404, 404]);
    expect((await restore('note', item)).body).toMatchObject({
      message: 'Note not found in the trash',
      detail: 'It does not exist, or it is not in the trash.',
    });
    await remove(item);
    expect([(await restore('doc', item)).status, (await purge('doc', item)).status]).toEqual([404, 404]);
    for (const person of [world.team.guest, await buildPerson(world.app)])
      expect((await restore('note', item, world.app.as(person))).status).toBe(403);
    expect((await purge('note', item, world.member)).status).toBe(403);
    await removeProject();
    for (const one of [item, alone]) {
      const answer = await restore('note', one);
      expect(answer).toMatchObject({ status: 409, body: { error_code: 'RESOURCE_CONFLICT' } });
      expect(answer.body.message).toContain('Apollo');
    }
  });

  it('performs one of a concurrent restore and purge', async () => {
    for (let round = 0; round < 10; round += 1) {
      const item = await world.make('doc');
      await remove(item);
      const [restored, purged] = await Promise.all([restore('doc', item), purge('doc', item)]);
      expect([restored.status, purged.status].toSorted((a, b) => a - b)).toEqual([200, 404]);
      expect((await get(item)).status).toBe(restored.status === 200 ? 200 : 404);
      expect(await buildKeys([item.item_id])).toHaveLength(restored.status === 200 ? 1 : 0);
    }
  });
});

describe('with the project', () => {
  it('goes to the trash in one cascade with the tasks, and exactly these come back', async () => {
    const items = await Promise.all(TYPES.map((type) => world.make(type)));
    const task = await world.task();
    const earlier = await world.make('doc');
    await remove(earlier);
    const loose = await world.make('doc', { project_id: null });
    const deleted = await removeProject();
    expect(deleted.body).toMatchObject({ cascade_count: 5 });
    for (const item of items) expect((await get(item)).status).toBe(404);
    expect((await get(loose)).status).toBe(200);
    const listed = (await trash()) as { entity_id: string; cascade_id: string; cascade_count: number }[];
    const cascade = listed.filter(({ entity_id }) => entity_id !== earlier.item_id);
    expect(cascade).toHaveLength(6);
    expect(new Set(cascade.map(({ cascade_id }) => cascade_id)).size).toBe(1);
    expect(cascade.map(({ cascade_count }) => cascade_count)).toEqual(Array(6).fill(5));
    expect((await restoreProject()).body).toMatchObject({ restored_count: 6 });
    for (const item of items) expect((await get(item)).body).toMatchObject({ version: 3, ...world.project });
    expect((await world.member.get(`/api/tasks/${task.task_id}`)).status).toBe(200);
    expect((await trash()).map(({ entity_id }: { entity_id: string }) => entity_id)).toEqual([earlier.item_id]);
  });

  it('10,000 items go and come back in as many statements as one', async () => {
    const count = async (act: () => Promise<unknown>) => (await captureStatements(act)).length;
    await world.make('doc');
    const few = [await count(removeProject), await count(restoreProject)];
    await plantItems(world, 10_000);
    expect([await count(removeProject), await count(restoreProject)]).toEqual(few);
    const { rows } = await db().raw('select count(*)::int from items where project_id = ? and deleted_at is null', [
      world.project.project_id,
    ]);
    expect(rows[0].count).toBe(10_001);
  }, 120_000);

  it('purging the project erases its items, those deleted before it too', async () => {
    const items = await Promise.all(TYPES.map((type) => world.make(type)));
    await remove(items[0] as Item);
    await removeProject();
    const answer = await world.app.as(world.team.manager).delete(`/api/trash/project/${world.project.project_id}`);
    expect(answer).toMatchObject({ status: 200, body: { purged: 5 } });
    const ids = items.map(({ item_id }) => item_id);
    expect([await buildKeys(ids), await db()('items').whereIn('item_id', ids)]).toEqual([[], []]);
  });
});

describe('emptied and expired', () => {
  it('emptying takes what lies in the trash now, in one audit entry a deletion', async () => {
    const [one, two, live] = [await world.make('note'), await world.make('file', { project_id: null }), await world.make('doc')];
    await remove(one);
    await remove(two);
    const answer = await world.app.as(world.team.admin).delete(`/api/trash?team_id=${world.team.team_id}`);
    expect(answer).toMatchObject({ status: 200, body: { purged: 2 } });
    expect(await buildKeys([one.item_id, two.item_id, live.item_id])).toEqual([live.item_id]);
    expect((await findAudit(two)).at(-1)).toMatchObject({ action: 'purge', feature: 'files', severity: 'MEDIUM' });
    expect(JSON.parse((await findAudit(one)).at(-1).details)).toMatchObject({ cause: 'emptied', purged_count: 1 });
  });

  it('the retention takes what is older than 30 days, and nothing younger', async () => {
    const [old, young] = [await world.make('whiteboard', { project_id: null }), await world.make('doc')];
    await remove(old);
    await remove(young);
    await longAgo('items', { item_id: old.item_id });
    expect(await purgeExpired(world.app.services)).toBe(1);
    expect(await buildKeys([old.item_id, young.item_id])).toEqual([young.item_id]);
    expect((await restore('doc', young)).status).toBe(200);
  });
});
