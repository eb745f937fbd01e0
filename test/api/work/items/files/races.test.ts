import { setFileQuota } from '../../../../../api/work/items/files/set-file-quota.js';
import { sweepObjects } from '../../../../../api/work/items/files/sweep-objects.js';
import { serviceContext } from '../../../../../api/platform/context.js';
import { buildProject, buildTeam } from '../../../../factories/people.js';
import { startApp, type TestApp } from '../../../../support/app.js';
import { until } from '../../../../support/worker.js';
import { onDisk, randomContent, readStorage, strays, upload } from './world.js';

/** Uploads, deletions and purges at the same time. The counter of a team always equals the sum of its files. */

const ROUNDS = Number(process.env['FILE_ROUNDS'] ?? 3);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());
afterEach(async () => {
  // A refusal is sent while the bytes are being removed.
  await until(async () => (await onDisk(app)).unfinished.length === 0);
  expect(await strays(app)).toEqual({ orphans: [], lost: [] });
});

/** Removes the bytes of purged files, as the sweep does a day later. */
const removeOrphans = () => sweepObjects(app.services, 0);
const countAll = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((each) => each === status).length]));

it.each(['a team that stores nothing yet', 'a team with files'])('20 uploads never exceed the quota of %s', async (what) => {
  const team = await buildTeam(app);
  const fields = { team_id: team.team_id };
  if (what === 'a team with files') await upload(app, team.member, { fields, content: '' });
  await app.services.db('team_storage').insert({ team_id: team.team_id, quota: 7500 }).onConflict('team_id').merge(['quota']);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => upload(app, team.member, { fields, content: randomContent(1000) })),
  );
  expect(countAll(answers.map(({ status }) => status))).toEqual({ 201: 7, 402: 13 });
  expect(answers.find(({ status }) => status === 402)?.body).toMatchObject({
    error_code: 'QUOTA_EXCEEDED',
    message: 'The team has no room for this file',
  });
  expect(await readStorage(app, team.team_id)).toEqual({ charged: 7000, stored: 7000 });
});

it('a smaller quota keeps what is there, and the first byte too many ends an upload', async () => {
  const team = await buildTeam(app);
  const fields = { team_id: team.team_id };
  expect((await upload(app, team.member, { fields, content: randomContent(2_000_000) })).status).toBe(201);
  const operator = serviceContext(app.services, 'operator');
  expect(await setFileQuota(operator, team.team_id, 1)).toEqual({ bytes: 2_000_000, quota: 1_048_576 });
  expect((await upload(app, team.member, { fields, content: '' })).status).toBe(402);
  await setFileQuota(operator, team.team_id, 3);
  expect((await upload(app, team.member, { fields, content: randomContent(2_000_000) })).status).toBe(402);
  expect(await setFileQuota(operator, team.team_id, null)).toEqual({ bytes: 2_000_000, quota: 5120 * 1_048_576 });
  await expect(setFileQuota(operator, team.member.user_id, 1)).rejects.toMatchObject({ status: 404 });
});

it('uploads against the deletion of their project leave no live file in the trash', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const team = await buildTeam(app);
    const { project_id } = await buildProject(app, team);
    const fields = { team_id: team.team_id, project_id };
    const send = () => upload(app, team.member, { fields, content: randomContent(5000) });
    const [deleted, ...answers] = await Promise.all([
      app.as(team.member).delete(`/api/projects/${project_id}`),
      ...Array.from({ length: 10 }, send),
    ]);
    expect(deleted.status).toBe(200);
    expect(answers.filter(({ status }) => status !== 201 && status !== 404)).toEqual([]);
    const stored = answers.filter(({ status }) => status === 201).length;
    expect(await app.services.db('items').where({ project_id }).whereNull('deleted_at')).toEqual([]);
    expect(await readStorage(app, team.team_id)).toEqual({ charged: 5000 * stored, stored: 5000 * stored });
    await app.as(team.admin).delete(`/api/trash/project/${project_id}`);
    expect(await readStorage(app, team.team_id)).toEqual({ charged: 0, stored: 0 });
    // What was purged keeps its bytes until the sweep.
    await removeOrphans();
  }
});

it('uploads against the deletion of their team leave no live file behind', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const team = await buildTeam(app);
    const fields = { team_id: team.team_id };
    const [deleted, ...answers] = await Promise.all([
      app.as(team.admin).delete(`/api/teams/${team.team_id}`),
      ...Array.from({ length: 10 }, () => upload(app, team.member, { fields, content: 'x' })),
    ]);
    expect(deleted.status).toBe(200);
    expect(answers.filter(({ status }) => ![201, 403, 404].includes(status))).toEqual([]);
    expect(await app.services.db('items').where(fields).whereNull('deleted_at')).toEqual([]);
  }
});

it('performs one of a concurrent restore and purge, and updates the counter', async () => {
  const team = await buildTeam(app);
  const fields = { team_id: team.team_id };
  for (let round = 0; round < ROUNDS * 3; round += 1) {
    const before = (await readStorage(app, team.team_id)).charged;
    const { body } = await upload(app, team.member, { fields, content: 'abc' });
    await app.as(team.member).delete(`/api/files/${body.file_id}`);
    const [restored, purged] = await Promise.all([
      app.as(team.manager).post(`/api/trash/file/${body.file_id}/restore`),
      app.as(team.manager).delete(`/api/trash/file/${body.file_id}`),
    ]);
    expect(countAll([restored.status, purged.status])).toEqual({ 200: 1, 404: 1 });
    const kept = restored.status === 200 ? 3 : 0;
    expect(await readStorage(app, team.team_id)).toEqual({ charged: before + kept, stored: before + kept });
    await removeOrphans();
  }
});

it('purges and uploads of one team at the same time keep the counter', async () => {
  const team = await buildTeam(app);
  const fields = { team_id: team.team_id };
  const old = await Promise.all(Array.from({ length: 8 }, () => upload(app, team.member, { fields, content: 'old' })));
  await Promise.all(old.map(({ body }) => app.as(team.member).delete(`/api/files/${body.file_id}`)));
  const [emptied, ...answers] = await Promise.all([
    app.as(team.admin).delete(`/api/trash?team_id=${team.team_id}`),
    ...Array.from({ length: 8 }, () => upload(app, team.member, { fields, content: 'newer' })),
  ]);
  expect([emptied.body, countAll(answers.map(({ status }) => status))]).toEqual([{ purged: 8 }, { 201: 8 }]);
  expect(await readStorage(app, team.team_id)).toEqual({ charged: 40, stored: 40 });
  await removeOrphans();
});
