import { buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { importText, ndjson } from '../../bulk/import-support.js';
import { createCycle, insertTasks } from './support.js';

// Points in the figures of a cycle.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let member: Client;
const report = async (cycle_id: string) => (await member.get(`/api/sprints/${cycle_id}/report`)).body;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

it('counts each estimate, without what is canceled or has left, and freezes the sums', async () => {
  const { cycle_id } = await createCycle(member, project);
  const [parent = '', ...ids] = await insertTasks(app, team, project, [
    { estimate: 8 },
    { estimate: 0, status: 'done' },
    { estimate: 5 },
    {},
    { estimate: 40 },
    { estimate: 99, status: 'done', resolution: 'duplicate' },
  ]);
  const [child = ''] = await insertTasks(app, team, project, [{ parent_task_id: parent }]);
  await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [parent, child, ...ids] });
  await member.post(`/api/sprints/${cycle_id}/start`, {});
  await member.delete(`/api/sprints/${cycle_id}/tasks/${ids[3] as string}`);
  expect((await report(cycle_id)).estimate).toEqual({ scope: 13, completed: 0, without: 2 });
  await member.patch(`/api/tasks/${parent}`, { status: 'done' });
  await member.patch(`/api/tasks/${ids[2] as string}`, { estimate: 3 });
  const estimate = { scope: 16, completed: 8, without: 1 };
  expect((await report(cycle_id)).estimate).toEqual(estimate);
  const { body } = await member.post(`/api/sprints/${cycle_id}/complete`, {});
  expect(body.snapshot.estimate).toEqual(estimate);
  await member.patch(`/api/tasks/${parent}`, { estimate: 13 });
  expect((await report(cycle_id)).estimate).toEqual(estimate);
});

it('says nothing where no task is estimated, and of a snapshot from before there were points', async () => {
  const { cycle_id } = await createCycle(member, project);
  const ids = await insertTasks(app, team, project, [
    { status: 'done' },
    { estimate: 8, status: 'done', resolution: 'canceled' },
  ]);
  await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: ids });
  await member.post(`/api/sprints/${cycle_id}/start`, {});
  expect(await report(cycle_id)).not.toHaveProperty('estimate');
  await member.post(`/api/sprints/${cycle_id}/complete`, {});
  expect(await report(cycle_id)).not.toHaveProperty('estimate');
});

it('comes with the snapshot of an import, which holds nothing but counts', async () => {
  const cycle = (estimate: unknown) => {
    const points = { committed: 0, completed: 0 };
    const snapshot = { committed: 1, added: 0, completed: 1, carried_over: 0, points, days: [], estimate };
    const name = `Cycle ${JSON.stringify(estimate)}`;
    const times = { started_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-08T00:00:00Z' };
    return { entity: 'cycle', cycle_id: name, name, ...project, status: 'completed', snapshot, ...times };
  };
  const estimate = { scope: 30, completed: 12, without: 4 };
  const wrong = [{ scope: -1, completed: 0, without: 0 }, { scope: 1 }, { ...estimate, completed: 2 ** 40 }, 'x', null];
  const job = await importText(app, app.as(team.manager), team, ndjson([estimate, ...wrong].map(cycle)));
  expect(job).toMatchObject({ status: 'succeeded', failed: wrong.length });
  const { body } = await member.get(`/api/sprints?team_id=${team.team_id}&status=completed`);
  expect(body).toMatchObject([{ snapshot: { estimate } }]);
});
