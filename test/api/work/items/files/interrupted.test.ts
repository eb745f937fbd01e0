import { utimesSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { maintenanceActivities } from '../../../../../activities/maintenance.js';
import { sweepObjects } from '../../../../../api/work/items/files/sweep-objects.js';
import { buildProject, buildTeam, type TestTeam } from '../../../../factories/people.js';
import { killApiProcesses, startApiProcess } from '../../../../resilience/api-process.js';
import { startApp, type TestApp } from '../../../../support/app.js';
import { startS3Server } from '../../../../support/s3-server.js';
import { until } from '../../../../support/worker.js';
import { beginUpload } from './upload-parts.js';
import { buildForm, onDisk, randomContent, strays, upload } from './world.js';

/** Uploads that end in the middle. None leaves a row without bytes; what bytes a crash leaves, the sweep removes. */

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});
afterEach(async () => {
  // A refusal is sent while the bytes are being removed.
  await until(isClean);
  expect(await strays(app)).toEqual({ orphans: [], lost: [] });
});

const CONTENT = randomContent(2_000_000);
const begin = (url = app.url, fields: Record<string, string> = { team_id: team.team_id }) =>
  beginUpload({ url, token: team.member.token, fields, content: CONTENT, sent: 1_000_000 });
const isUnfinished = async () => (await onDisk(app)).unfinished.length === 1;
const isClean = async () => (await onDisk(app)).unfinished.length === 0;
const files = async (): Promise<number> => Number((await app.services.db('files').count('* as n').first())?.['n']);

it('leaves nothing when the client hangs up', async () => {
  const { socket } = await begin();
  await until(isUnfinished);
  socket.destroy();
  await until(isClean);
  expect(await files()).toBe(0);
});

it('ends an upload that drips, with a 408', async () => {
  const hasty = await startApp({ FILE_UPLOAD_SECONDS: '1' });
  try {
    const { team_id, member } = await buildTeam(hasty);
    const dripping = await beginUpload({
      url: hasty.url,
      token: member.token,
      fields: { team_id },
      content: CONTENT,
      sent: 70_000,
    });
    const closed = new Promise((resolve) => dripping.socket.on('close', resolve));
    expect(await dripping.status()).toBe(408);
    await closed;
    expect(dripping.received()).toContain('The request took too long');
    await until(async () => (await onDisk(hasty)).unfinished.length === 0);
    expect((await onDisk(hasty)).objects).toEqual([]);
  } finally {
    await hasty.close();
  }
});

it('gives up a complete file when a field follows it later', async () => {
  const late = { name: 'project_id', content: 'x' };
  // The file has ended; the head of the next part is on its way.
  const slow = await beginUpload({
    url: app.url,
    token: team.member.token,
    fields: { team_id: team.team_id },
    content: CONTENT,
    after: [late],
    sent: 30 - buildForm([late]).length,
  });
  const size = async () => {
    const [name = ''] = (await onDisk(app)).unfinished;
    return (await stat(join(app.services.config.DATA_DIR, 'files', 'unfinished', name))).size;
  };
  await until(async () => (await size().catch(() => 0)) === CONTENT.length);
  slow.finish();
  expect(await slow.status()).toBe(422);
  slow.socket.destroy();
});

it('gives up a file whose project goes to the trash meanwhile', async () => {
  const project = await buildProject(app, team);
  const slow = await begin(app.url, { team_id: team.team_id, project_id: project.project_id });
  await until(isUnfinished);
  expect((await app.as(team.member).delete(`/api/projects/${project.project_id}`)).status).toBe(200);
  slow.finish();
  expect(await slow.status()).toBe(404);
  slow.socket.destroy();
});

it('gives up a file whose uploader becomes a guest meanwhile', async () => {
  const slow = await begin();
  await until(isUnfinished);
  const seat = app.services.db('memberships').where({ team_id: team.team_id, user_id: team.member.user_id });
  await seat.clone().update({ role: 'guest' });
  slow.finish();
  expect(await slow.status()).toBe(403);
  await seat.update({ role: 'member' });
  slow.socket.destroy();
});

it('kill -9 while bytes arrive leaves an unfinished file, which the sweep removes', async () => {
  const api = await startApiProcess(app);
  const { socket } = await begin(api.url);
  await until(isUnfinished);
  await api.stop('SIGKILL');
  socket.destroy();
  expect([await isUnfinished(), await files()]).toEqual([true, 0]);
  expect(await sweepObjects(app.services)).toBe(0);
  expect(await sweepObjects(app.services, 0)).toBe(1);
});

it('kill -9 between the store and the commit leaves an object, which the sweep removes', async () => {
  const { db } = app.services;
  await upload(app, team.member, { fields: { team_id: team.team_id } });
  const before = await files();
  const api = await startApiProcess(app);
  await db.transaction(async (trx) => {
    // The upload waits for the team's counter, its last statement.
    await trx('team_storage').where({ team_id: team.team_id }).forUpdate();
    const slow = await begin(api.url);
    slow.finish();
    await until(async () => (await strays(app)).orphans.length === 1);
    await api.stop('SIGKILL');
    slow.socket.destroy();
  });
  expect([await files(), (await strays(app)).orphans.length]).toEqual([before, 1]);
  expect(await sweepObjects(app.services)).toBe(0);
  expect(await sweepObjects(app.services, 0)).toBe(1);
});

it('the daily job removes the bytes of purged files a day later, and only those', async () => {
  const { body } = await upload(app, team.member, { fields: { team_id: team.team_id } });
  await upload(app, team.member, { fields: { team_id: team.team_id } });
  await app.as(team.member).delete(`/api/files/${body.file_id}`);
  await app.as(team.manager).delete(`/api/trash/file/${body.file_id}`);
  const jobs = maintenanceActivities(app.services);
  expect(await jobs.runMaintenanceJob('file-sweep')).toBe('removed 0 objects');
  const yesterday = Date.now() / 1000 - 90_000;
  for (const key of (await onDisk(app)).objects)
    utimesSync(join(app.services.config.DATA_DIR, 'files', 'objects', key.slice(0, 2), key), yesterday, yesterday);
  expect(await jobs.runMaintenanceJob('file-sweep')).toBe('removed 1 objects');
});

it('writes no row when the bucket fails, and answers 503', async () => {
  const s3 = await startS3Server();
  const remote = await startApp(s3.settings);
  try {
    const { team_id, member } = await buildTeam(remote);
    s3.failNext(500, 3);
    const { status, headers } = await upload(remote, member, { fields: { team_id } });
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect([s3.keys(), await onDisk(remote)]).toEqual([[], { objects: [], unfinished: [] }]);
    expect(await remote.services.db('files')).toEqual([]);
    expect((await upload(remote, member, { fields: { team_id } })).status).toBe(201);
    expect(s3.keys()).toHaveLength(1);
  } finally {
    await remote.close();
    s3.close();
  }
});
