/** A database of the last released version, with rows in every table and a run that waits at its gate, is upgraded to this version. */
import { Client, Connection } from '@temporalio/client';
import { issueToken } from '../../../api/identity/auth/authenticate.js';
import type { RunningWorker } from '../../../activities/worker/start-worker.js';
import { MIGRATION_NAMES } from '../../../db/migrations/index.js';
import { findSchemaProblem, readSchemaState } from '../../../db/schema/check-schema.js';
import { migrateSchema } from '../../../db/schema/migrate-schema.js';
import { checkInvariants } from '../../../scripts/chaos/invariants.js';
import { migrateDatabase } from '../../../scripts/schema/migrate-database.js';
import { listMigrationNames, readReleased } from '../../../scripts/schema/released-migrations.mjs';
import { startApp, type TestApp } from '../../support/app.js';
import { queuePrefix, runWorker, until } from '../../support/worker.js';
import { findLostRows, type Fixture, loadFixture, readFixture } from './load-fixture.js';

const released = readReleased();
const LAST = Object.keys(released).at(-1) as string;

let app: TestApp;
let fixture: Fixture;
let worker: RunningWorker | undefined;
let connection: Connection;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  fixture = readFixture(LAST);
  await loadFixture(db(), fixture);
});
afterAll(async () => {
  await worker?.stop();
  await connection.close();
  await app.close();
});

it('the fixture is that of the last released version, and has rows in every table', async () => {
  const migrations = listMigrationNames(Object.values(released).flatMap((files) => Object.keys(files)));
  expect(fixture).toMatchObject({ version: LAST, migrations });
  const tables = await db()('pg_class')
    .whereRaw(`relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    .whereNotIn('relname', ['knex_migrations', 'knex_migrations_lock', 'partition_plans'])
    .pluck<string[]>('relname');
  expect([...fixture.rows.keys()].toSorted()).toEqual(tables.toSorted());
});

it('the migrations keep every row of every table', async () => {
  expect(await findLostRows(db(), fixture)).toEqual([]);
  expect(await migrateSchema(db())).toEqual({ applied: MIGRATION_NAMES.slice(fixture.migrations.length), newer: [] });
  expect(await findLostRows(db(), fixture)).toEqual([]);
});

it('a lost row and a changed value are found', async () => {
  const trx = await db().transaction();
  await trx.raw(`set local session_replication_role = replica; delete from item_fields; update teams set name = name || '!'`);
  const teams = fixture.rows.get('teams')?.length as number;
  expect((await findLostRows(trx, fixture)).map((line) => line.split(' ')[0])).toEqual([
    'item_fields',
    ...Array<string>(teams).fill('teams'),
  ]);
  await trx.rollback();
});

it('the migrate step ends, and this version can run on what it leaves', async () => {
  const said: string[] = [];
  await migrateDatabase(db(), (line) => said.push(line));
  expect(said).toEqual(['the schema is up to date']);
  expect(findSchemaProblem(await readSchemaState(db()))).toBeNull();
});

/** The fixture is as old as its version: what waits for a decision gets time again, and what an operator has looked into goes. */
const MAKE_PRESENT = `
  set local session_replication_role = replica;
  update gates set expires_at = now() + interval '1 day', remind_at = null where decision is null and lapsed_at is null;
  update automation_runs r set gate_expires_at = g.expires_at from gates g where g.run_id = r.run_id and r.status = 'paused' and g.decision is null;
  update agent_plans set expires_at = now() + interval '1 day', remind_at = null where status = 'staged';
  delete from audit_rejected; delete from audit_archives; delete from outbox where parked_at is not null`;

/** Signs a user of the fixture in. */
async function signIn(email: string): Promise<{ token: string }> {
  const { user_id } = (await db()('users').where({ email }).first('user_id')) as { user_id: string };
  const expires_at = new Date(Date.now() + 3_600_000);
  const [session] = (await db()('sessions').insert({ user_id, expires_at }).returning('session_id')) as { session_id: string }[];
  return issueToken(app.services, user_id, session?.session_id as string);
}

it('the run that was paused goes on after the upgrade, and every invariant holds', async () => {
  await db().transaction((trx) => trx.raw(MAKE_PRESENT));
  const paused = await db()('automation_runs').where({ status: 'paused' }).pluck<string[]>('run_id');
  expect(paused).not.toEqual([]);
  worker = await runWorker(app);
  // Temporal knows none of the workflows, as after a restored backup.
  await worker.reconcile();
  const max = app.as(await signIn('max@demo.test'));
  const items = (await max.get('/api/approvals')).body.filter(({ id }: { id: string }) => paused.includes(id));
  expect(items).toHaveLength(paused.length);
  const decision = {
    decision: 'approve',
    items: items.map(({ kind, id, staged_hash }: Record<string, string>) => ({ kind, id, staged_hash })),
  };
  expect((await max.post('/api/approvals/decide', decision)).status).toBe(200);
  await until(
    async () => (await db()('automation_runs').whereIn('run_id', paused).whereNot({ status: 'succeeded' })).length === 0,
  );
  const temporal = new Client({ connection });
  const judge = () => checkInvariants({ services: app.services, temporal });
  const broken = (verdicts: Awaited<ReturnType<typeof judge>>) => verdicts.filter(({ violations }) => violations.length > 0);
  // The worker seals, indexes and dispatches what is left within seconds.
  await until(async () => broken(await judge()).length === 0, 60_000).catch(() => undefined);
  expect(broken(await judge())).toEqual([]);
});
