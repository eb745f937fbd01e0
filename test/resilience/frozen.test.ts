/** A process that is frozen in the middle of a transaction keeps its locks for seconds, not for ever. */
import pg from 'pg';
import { SERVING } from '../../db/connection.js';
import { buildProject, buildTask, buildTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { lockWaiters } from '../support/database.js';
import { until } from '../support/worker.js';
import { killApiProcesses, startApiProcess } from './api-process.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({}, 'product');
});
afterAll(async () => {
  killApiProcesses();
  await app.close();
});

it('an API process stopped by SIGSTOP loses the lock of the project that it was changing', async () => {
  const team = await buildTeam(app);
  const project = await buildProject(app, team);
  const api = await startApiProcess(app);
  const holder = new pg.Client(app.database.url);
  await holder.connect();
  await holder.query(`set lock_timeout = ${SERVING.idleTransactionTimeout * 2}`);
  const headers = { authorization: `Bearer ${team.member.token}` };
  const wanted = { where: 'project_id = $1 for update', values: [project.project_id] };
  const isLocked = () =>
    holder.query(`select from projects where ${wanted.where} nowait`, wanted.values).then(
      () => false,
      (error: { code?: string }) => error.code === '55P03',
    );
  /**
   * Freezes the process while its request waits for the project, then gives it the lock. On a busy machine the wait
   * may end (lock_timeout) before the lock is free: then the process goes on and another task is deleted.
   */
  async function freeze(): Promise<{ task_id: string; request: Promise<unknown> }> {
    const { task_id } = await buildTask(app, team, project);
    await holder.query('begin');
    await holder.query('select from projects where project_id = $1 for update', [project.project_id]);
    const request = fetch(`${api.url}/api/tasks/${task_id}`, { method: 'DELETE', headers }).catch(() => undefined);
    await until(async () => (await lockWaiters(app.services.db)) > 0);
    api.child.kill('SIGSTOP');
    await holder.query('commit');
    const isTaken = until(isLocked, 1_000).then(
      () => true,
      () => false,
    );
    if (await isTaken) return { task_id, request };
    api.child.kill('SIGCONT');
    await request;
    return freeze();
  }
  const { task_id, request } = await freeze();
  // The project's lock is now the frozen process's.
  expect((await holder.query(`select 1 from projects where ${wanted.where}`, wanted.values)).rowCount).toBe(1);
  api.child.kill('SIGCONT');
  await request;
  expect(await app.services.db('tasks').where({ task_id }).first()).toMatchObject({ deleted_at: null });
  await holder.end();
});

it('every pool of the API and the worker gives up locks', async () => {
  const show = async (name: string) => (await app.services.db.raw<{ rows: Record<string, string>[] }>(`show ${name}`)).rows[0];
  expect(await show('lock_timeout')).toEqual({ lock_timeout: '1500ms' });
  expect(await show('idle_in_transaction_session_timeout')).toEqual({ idle_in_transaction_session_timeout: '10s' });
});
