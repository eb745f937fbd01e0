/** Run counts of an automation are stored with it by every statement that writes runs. */
import { deleteExpiredRuns } from '../../../../api/automation/runs/delete-expired-runs.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
const runs = (where: object) => db()('automation_runs').where(where);
const build = (status: string, fields: Record<string, unknown> = {}, automation_id?: string) =>
  buildRun(app, team, { status, fields: { ...fields, ...(automation_id ? { automation_id } : {}) } } as Parameters<
    typeof buildRun
  >[2]);

/** As the API says it: runs, failed, and dead letters. */
async function readCounts(automationId: string): Promise<[number, number, number]> {
  const { body } = await app.as(team.admin).get(`/api/automations/${automationId}`);
  const letters = await app.as(team.admin).get('/api/automations/dead-letter');
  return [body.run_count, body.failed_count, letters.body.total];
}

it('follows a run from its creation to its deletion', async () => {
  const { run_id, automation_id } = await build('running');
  expect(await readCounts(automation_id)).toEqual([1, 0, 0]);
  await runs({ run_id }).update({ status: 'failed', finished_at: db().fn.now() });
  expect(await readCounts(automation_id)).toEqual([1, 1, 1]);
  await runs({ run_id }).update({ retried_by: run_id });
  expect(await readCounts(automation_id)).toEqual([1, 1, 0]);
  await runs({ run_id }).update({ retried_by: null, finished_at: db().raw("now() - interval '1 year'") });
  expect(await readCounts(automation_id)).toEqual([1, 1, 1]);
  await deleteExpiredRuns(app.services);
  expect(await runs({ run_id })).toEqual([]);
  expect(await readCounts(automation_id)).toEqual([1, 1, 0]);
});

it('a test run is never counted', async () => {
  const { run_id, automation_id } = await build('failed', { is_test: true });
  await runs({ run_id }).update({ status: 'running' });
  await runs({ run_id }).update({ status: 'failed' });
  await runs({ run_id }).delete();
  expect(await readCounts(automation_id)).toEqual([0, 0, 0]);
});

it('runs that end at the same time do not wait for each other', async () => {
  const first = await build('running');
  const { run_id: second } = await build('running', {}, first.automation_id);
  // Two connections whose counts stand in different shards.
  const open = await Promise.all(Array.from({ length: 7 }, () => db().transaction()));
  const shards = await Promise.all(
    open.map(
      async (trx) => (await trx.raw<{ rows: { shard: number }[] }>('select pg_backend_pid() % 16 as shard')).rows[0]?.shard,
    ),
  );
  const [one] = open;
  const other = open[shards.findIndex((shard) => shard !== shards[0])];
  if (!one || !other) throw new Error('Seven connections have one shard');
  await one('automation_runs').where({ run_id: first.run_id }).update({ status: 'failed', finished_at: db().fn.now() });
  await other('automation_runs').where({ run_id: second }).update({ status: 'failed', finished_at: db().fn.now() });
  await Promise.all(open.map((trx) => trx.commit()));
  expect(await readCounts(first.automation_id)).toEqual([2, 2, 2]);
});
