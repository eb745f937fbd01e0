/** Conditions that must hold while items are written and their project goes to the trash. */
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { buildProject, buildTeam } from '../../../factories/people.js';
import type { Answer } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { ROUNDS } from '../tasks/world.js';
import { itemWorld } from './world.js';

const world = itemWorld(60_000);
const LONG = 120_000 + ROUNDS * 2_000;
const db = () => world.app.services.db;
const race = <T>(racers: (() => Promise<T>)[]): Promise<T[]> => Promise.all(racers.map((start) => start()));
const removeProject = (project: { project_id: string }) => world.member.delete(`/api/projects/${project.project_id}`);
const restoreProject = (project: { project_id: string }) => world.member.post(`/api/trash/project/${project.project_id}/restore`);

/** Live items whose project is in the trash. */
const orphans = async () =>
  (
    await db().raw(
      'select i.item_id from items i join projects p using (project_id) where i.deleted_at is null and p.deleted_at is not null',
    )
  ).rows;

const getStatuses = (answers: Answer[]) => new Set(answers.map(({ status }) => status));

/** No invariant of the installation is broken by the races; the outbox is not processed here, and projects of the factory have no mark. */
afterEach(async () => {
  const verdicts = await checkInvariants({ services: world.app.services });
  const broken = verdicts.filter(({ name, violations }) => !/^(outbox_empty|items_indexed)$/.test(name) && violations.length > 0);
  expect(broken).toEqual([]);
}, LONG);

it(
  'creating in a project that goes to the trash leaves nothing alive in it',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const project = await buildProject(world.app, world.team);
      const create = () => world.member.post('/api/notes', { title: 'Late', ...project });
      const answers = await race([create, create, () => removeProject(project), create, create]);
      expect([...getStatuses(answers)].filter((status) => ![200, 201, 404].includes(status))).toEqual([]);
      expect(await orphans()).toEqual([]);
      const [created] = await db()('items').where(project).count();
      expect(Number(created?.['count'])).toBe(answers.filter(({ status }) => status === 201).length);
      expect(answers[2]?.body.cascade_count).toBe(Number(created?.['count']));
    }
  },
  LONG,
);

it(
  'moving into a project that goes to the trash, and out of it, leaves nothing alive in it',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [here, there] = [await buildProject(world.app, world.team), await buildProject(world.app, world.team)];
      const make = (project: { project_id: string }) => world.make('note', project);
      const [out, into, edited] = [await make(here), await make(there), await make(here)];
      const put = ({ item_id }: { item_id: string }, fields: object) =>
        world.member.patch(`/api/notes/${item_id}`, { title: 'Moved', ...fields });
      const answers = await race([
        () => put(out, there),
        () => put(into, here),
        () => removeProject(here),
        () => put(edited, {}),
        () => removeProject(there),
      ]);
      for (const { status } of answers) expect([200, 404]).toContain(status);
      expect(await orphans()).toEqual([]);
    }
  },
  LONG,
);

it(
  'deleting and restoring an item while its project does the same leaves nothing alive in a trashed project',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const project = await buildProject(world.app, world.team);
      const { item_id } = await world.make('doc', project);
      const remove = () => world.member.delete(`/api/work-items/${item_id}`);
      const restore = () => world.member.post(`/api/trash/doc/${item_id}/restore`);
      const answers = await race([remove, () => removeProject(project), restore, () => restoreProject(project), remove, restore]);
      for (const { status } of answers) expect([200, 404, 409]).toContain(status);
      expect(await orphans()).toEqual([]);
      const { deleted_at, cascade_id } = await db()('items').where({ item_id }).first();
      expect(deleted_at === null).toBe(cascade_id === null);
    }
  },
  LONG,
);

it(
  'of writers of a task item and of the task with one version one wins, and the free fields are whole',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { item_id } = await world.make('task');
      const answers = await race([
        ...Array.from(
          { length: 4 },
          (_, nth) => () => world.member.put(`/api/work-items/${item_id}`, { title: `${nth}`, by: nth, version: 1 }),
        ),
        () => world.member.patch(`/api/tasks/${item_id}`, { title: 'task', version: 1 }),
      ]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
      const { title, fields } = (await world.member.get(`/api/work-items/${item_id}`)).body;
      expect(title === 'task' ? fields : { title, ...fields }).toEqual(title === 'task' ? {} : { title, by: Number(title) });
    }
  },
  LONG,
);

it('naming another team’s project locks nothing of that team while the request waits', async () => {
  const theirs = await buildProject(world.app, await buildTeam(world.app));
  const { item_id } = await world.make('note');
  const held = await db().transaction();
  await held('items').where({ item_id }).forUpdate();
  const moving = world.member.patch(`/api/notes/${item_id}`, theirs);
  await until(async () => {
    const { rows } = await db().raw(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows.length > 0;
  });
  await db().transaction((trx) => trx('projects').where(theirs).forUpdate().noWait());
  await held.rollback();
  expect((await moving).status).toBe(403);
});
