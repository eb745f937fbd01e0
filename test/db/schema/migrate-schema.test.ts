import { MIGRATION_NAMES } from '../../../db/migrations/index.js';
import { readSchemaState, SchemaError } from '../../../db/schema/check-schema.js';
import { migrateSchema } from '../../../db/schema/migrate-schema.js';
import { NAMES } from '../../../db/schema/version-0-1-0.js';
import { cloneDatabase, type TestDatabase } from '../../support/database.js';
import { until } from '../../support/worker.js';
import { migrateTo } from '../upgrade/load-fixture.js';

let database: TestDatabase;
const BASELINE = MIGRATION_NAMES[0] as string;

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(() => database.drop());

const writeNames = async (names: readonly string[]): Promise<void> => {
  await database.db('knex_migrations').delete();
  await database.db('knex_migrations').insert(names.map((name) => ({ name, batch: 1, migration_time: new Date() })));
};

/** Turns the database into an empty one of version 0.1.0, whose schema is that of the baseline. */
async function goBackToFirstVersion(names: readonly string[] = NAMES): Promise<void> {
  await database.db.raw('drop schema public cascade; create schema public');
  await migrateTo(database.db, [BASELINE]);
  await writeNames(names);
}

const state = () => readSchemaState(database.db);

describe('a database of version 0.1.0', () => {
  it('has the schema of the baseline, so its last state passes as that, and migrations go on from there', async () => {
    await goBackToFirstVersion();
    expect(await migrateSchema(database.db)).toEqual({ applied: MIGRATION_NAMES.slice(1), newer: [] });
    expect(await state()).toEqual({ applied: MIGRATION_NAMES, oldestVersion: '0.1.0' });
    expect(await migrateSchema(database.db)).toEqual({ applied: [], newer: [] });
  });

  it('waits for a table of the running service no longer than a request may, and goes on when it is free', async () => {
    await goBackToFirstVersion();
    const holder = await database.db.transaction();
    await holder.raw('lock table users in access share mode');
    const waiting = async (): Promise<number> => {
      const text = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await database.db.raw(text)).rows[0].count;
    };
    const migrated = migrateSchema(database.db);
    await until(async () => (await waiting()) > 0);
    await until(async () => (await waiting()) === 0);
    await holder.rollback();
    expect(await migrated).toEqual({ applied: MIGRATION_NAMES.slice(1), newer: [] });
  });

  it('goes on where a step was interrupted in a migration without a transaction, which leaves the lock of knex', async () => {
    await database.db.raw('drop schema public cascade; create schema public');
    const { db } = database;
    await migrateTo(db, MIGRATION_NAMES.slice(0, MIGRATION_NAMES.indexOf('0112_number_tasks')));
    await db('knex_migrations_lock').update({ is_locked: 1 });
    const steps = await Promise.all([1, 2].map(() => migrateSchema(db)));
    expect(steps.map(({ applied }) => applied.includes('0112_number_tasks'))).toContain(true);
    expect((await state()).applied).toEqual(MIGRATION_NAMES);
    expect(await db('knex_migrations_lock').pluck('is_locked')).toEqual([0]);
  });

  it('adopts the baseline once, however many migrate steps run', async () => {
    await goBackToFirstVersion();
    // The others may find the lock of knex taken: they fail, and change nothing.
    await Promise.allSettled([1, 2, 3].map(() => migrateSchema(database.db)));
    expect((await state()).applied).toEqual(MIGRATION_NAMES);
  });

  it.each([
    [
      'lacks the last migration',
      NAMES.slice(0, -1),
      /it is at 0057_edited_plans, and lacks 0058_if_changed\. Run the migrate step/,
    ],
    ['has the first migration only', NAMES.slice(0, 1), /it is at 0001_core, and lacks 0002_automations, /],
    [
      'has another migration too',
      [...NAMES, '0059_unknown'],
      /left between two migrations of version 0\.1\.0: it is at 0059_unknown/,
    ],
  ])('is refused if it %s', async (_what, names, words) => {
    await goBackToFirstVersion(names);
    await expect(migrateSchema(database.db)).rejects.toThrow(words);
    expect(await state()).toEqual({ applied: names, oldestVersion: null });
  });

  it.each([
    ['a column is missing', 'alter table teams drop column decisions_signed_in'],
    ['a column has another type', 'alter table mails alter column attempts type bigint'],
    ['an index is missing', 'drop index runs_of_version'],
    ['a trigger is missing', 'drop trigger run_goes_on on automation_runs'],
    ['a constraint is missing', 'alter table gates drop constraint gates_staged_hash'],
    [
      'a function differs',
      `create or replace function people_in(cause jsonb) returns uuid[] language sql immutable as $$ select '{}'::uuid[] $$`,
    ],
  ])('is refused if its names are all there, and %s', async (_what, change) => {
    await goBackToFirstVersion();
    await database.db.raw(change);
    await expect(migrateSchema(database.db)).rejects.toThrow(
      /has the migrations of version 0\.1\.0, but not its schema: .* npm run reset/,
    );
    expect((await state()).applied).toEqual(NAMES);
  });

  it('is the same with other comments and partitions', async () => {
    await goBackToFirstVersion();
    await database.db.raw(`create or replace function people_in(cause jsonb) returns uuid[] language sql immutable as $$
      -- Another comment.
      select array(select person::uuid from jsonb_array_elements_text(coalesce(cause->'user_ids', '[]')) as person where person is not null)
    $$; select make_partition('activity', '2020-01-01', 0)`);
    await migrateSchema(database.db);
    expect((await state()).applied).toEqual(MIGRATION_NAMES);
  });
});

describe('the schema of a newer version', () => {
  const next = [...MIGRATION_NAMES, '9999_next'];

  it('is left alone, if this version can run on it', async () => {
    await writeNames(next);
    expect(await migrateSchema(database.db)).toEqual({ applied: [], newer: ['9999_next'] });
    expect((await state()).applied).toEqual(next);
  });

  it('is refused, if it needs a newer version', async () => {
    await writeNames(next);
    await database.db('schema_compatibility').update({ oldest_version: '99.0.0' });
    await expect(migrateSchema(database.db)).rejects.toThrow(SchemaError);
    expect((await state()).applied).toEqual(next);
  });

  it('is refused, if it lacks a migration of this version', async () => {
    await writeNames([BASELINE, '9999_next']);
    await expect(migrateSchema(database.db)).rejects.toThrow('another build');
  });
});

it('an empty database gets every migration', async () => {
  const { db } = database;
  await db.raw('drop schema public cascade; create schema public');
  expect(await state()).toEqual({ applied: [], oldestVersion: null });
  expect(await migrateSchema(db)).toEqual({ applied: MIGRATION_NAMES, newer: [] });
});
