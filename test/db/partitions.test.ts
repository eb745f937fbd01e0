import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import pg from 'pg';
import { maintenanceActivities } from '../../activities/maintenance.js';
import { verifyChain } from '../../api/audit/verify-chain.js';
import { DATABASE_GAUGES } from '../../api/platform/telemetry/gauges/database-gauges.js';
import { openDatabase } from '../../db/connection.js';
import { migrationSource } from '../../db/migrations/index.js';
import { maintainPartitions } from '../../db/partitions.js';
import { type AuditLog, openAuditLog, tamper, writeEntries } from '../api/audit/support.js';

let log: AuditLog;
let db: Knex;
beforeEach(async () => {
  log = await openAuditLog();
  db = log.db;
  // The database was copied from one that may have been made before midnight.
  await maintenanceActivities(log).runMaintenanceJob('partitions');
});
afterEach(() => log.close());

const chore = () => maintenanceActivities(log).runMaintenanceJob('partitions');

/** Partition of a table `months` from now. */
const partition = (table: string, months = 0): string => {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
  return `${table}_${month.toISOString().slice(0, 7).replace('-', '_')}`;
};
/** Names that a statement returns in its column `name`. */
const names = async (sql: string, ...values: string[]): Promise<string[]> =>
  (await db.raw<{ rows: { name: string }[] }>(sql, values)).rows.map(({ name }) => name);
const listPartitions = (table: string): Promise<string[]> =>
  names('select inhrelid::regclass::text as name from pg_inherits where inhparent = ?::regclass order by 1', table);

/** Writes audit entries whose ids are `months` from now. Returns where they went. */
async function writeLater(months: number, count = 1): Promise<string[]> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    /* sql */ `
select record_change(
  jsonb_build_object('request_id', id, 'correlation_id', id, 'actor_type', 'system'),
  jsonb_build_object('feature', 'auth', 'action', 'login', 'entity_type', 'user'))
from (select uuidv7(make_interval(months => ?)) as id from generate_series(1, ?::int)) ids`,
    [months, count],
  );
  expect(rowCount).toBe(count);
  return names('select distinct tableoid::regclass::text as name from audit_entries');
}

const gauge = async (name: string): Promise<Record<string, number>> => {
  const { sql } = DATABASE_GAUGES.find((each) => each.name === name) as { sql: string };
  const { rows } = await db.raw<{ rows: { table: string; value: number }[] }>(sql);
  return Object.fromEntries(rows.map(({ table, value }) => [table, value]));
};

describe('the maintenance job', () => {
  it('finds the partitions of the present and the next three months, and a default one', async () => {
    for (const table of ['audit_entries', 'activity'])
      expect(await listPartitions(table)).toEqual([...[0, 1, 2, 3].map((n) => partition(table, n)), `${table}_default`]);
    expect(await gauge('assent_partitions_ahead')).toMatchObject({ audit_entries: 3, activity: 3 });
    expect(await chore()).toBe('made 0 partitions, dropped 0, left 0 for later');
  });

  it('makes a partition before its month begins', async () => {
    await db.raw(`drop table ${partition('audit_entries', 2)}, ${partition('audit_entries', 3)}, ${partition('activity', 3)}`);
    expect(await gauge('assent_partitions_ahead')).toMatchObject({ audit_entries: 1, activity: 2 });
    expect(await chore()).toBe('made 3 partitions, dropped 0, left 0 for later');
    expect(await gauge('assent_partitions_ahead')).toMatchObject({ audit_entries: 3, activity: 3 });
    expect(await writeLater(2)).toEqual([partition('audit_entries', 2)]);
    expect((await verifyChain(log)).breaks).toEqual([]);
  });

  it('moves rows of the default partition that belong into the new one, and the chain still verifies', async () => {
    await db.raw(`drop table ${partition('audit_entries', 1)}`);
    await writeEntries(db, null, 2);
    expect(await writeLater(1, 3)).toEqual(expect.arrayContaining(['audit_entries_default']));
    expect(await gauge('assent_partition_default_rows')).toMatchObject({ audit_entries: 3, activity: 0 });
    expect(await chore()).toBe('made 1 partitions, dropped 0, left 0 for later');
    expect(await gauge('assent_partition_default_rows')).toMatchObject({ audit_entries: 0 });
    expect(await db(partition('audit_entries', 1))).toHaveLength(3);
    expect(await verifyChain(log)).toMatchObject({ entries: 5, breaks: [] });
  });

  it('leaves more rows than 5,000 where they are, says so, and makes the other partitions', async () => {
    await db.raw(`drop table ${partition('activity', 1)}, ${partition('activity', 2)}`);
    await db.raw(/* sql */ `
insert into activity (activity_id, actor_type, action, entity_type, entity_id, summary)
select uuidv7(interval '1 month'), 'user', 'update', 'task', 'x', 'x' from generate_series(1, 5001)`);
    const { made, problems } = await maintainPartitions(db);
    expect({ made, problems }).toEqual({
      made: 1,
      problems: [`${partition('activity', 1)}: more than 5000 rows of it are in activity_default`],
    });
    expect(await gauge('assent_partition_default_rows')).toMatchObject({ activity: 5_001 });
    expect(await gauge('assent_partitions_ahead')).toMatchObject({ activity: 0 });
    await db.raw(
      `select make_partition('activity', date_trunc('month', now() at time zone 'UTC') + interval '1 month', 1000000)`,
    );
    expect(await gauge('assent_partitions_ahead')).toMatchObject({ activity: 3 });
  });

  it('is not stopped by a row that no month will take', async () => {
    await tamper(
      db,
      `insert into activity (activity_id, actor_type, action, entity_type, entity_id, summary)
      values ('ffffffff-ffff-4fff-bfff-ffffffffffff', 'user', 'update', 'task', 'x', 'x')`,
    );
    await db.raw(`drop table ${partition('activity', 3)}`);
    expect(await chore()).toBe('made 1 partitions, dropped 0, left 0 for later');
    expect(await gauge('assent_partition_default_rows')).toMatchObject({ activity: 1 });
  });

  it('waits a moment only for a long reader, holds up no writer, and succeeds afterwards', async () => {
    await db.raw(`drop table ${partition('audit_entries', 3)}`);
    const reader = new pg.Client(log.database.url);
    await reader.connect();
    await reader.query('begin');
    await reader.query('select count(*) from audit_entries');
    const report = maintainPartitions(db);
    await writeEntries(db, null);
    expect(await report).toEqual({
      made: 0,
      dropped: 0,
      problems: [`${partition('audit_entries', 3)}: canceling statement due to lock timeout`],
    });
    await reader.end();
    expect(await chore()).toBe('made 1 partitions, dropped 0, left 0 for later');
  });

  it('runs many times at once', async () => {
    await db.raw(`drop table ${partition('audit_entries', 3)}, ${partition('activity', 1)}, ${partition('activity', 2)}`);
    const reports = await Promise.all(Array.from({ length: 8 }, () => maintainPartitions(db)));
    expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
    expect(reports.reduce((sum, { made }) => sum + made, 0)).toBe(3);
  });
});

describe('retention', () => {
  it('drops activity 13 months after its month, and older rows of the default partition', async () => {
    for (const months of [-13, -14, -20])
      await db.raw(
        `select make_partition('activity', date_trunc('month', now() at time zone 'UTC') + make_interval(months => ?), 0)`,
        [months],
      );
    await db.raw(/* sql */ `
insert into activity (activity_id, actor_type, action, entity_type, entity_id, summary)
select uuidv7(make_interval(months => -n)), 'user', 'update', 'task', 'x', 'x' from unnest('{1,13,14,15,20}'::int[]) n`);
    expect(await gauge('assent_partition_default_rows')).toMatchObject({ activity: 2 });
    expect(await chore()).toBe('made 0 partitions, dropped 2, left 0 for later');
    expect(await listPartitions('activity')).toContain(partition('activity', -13));
    expect(await listPartitions('activity')).not.toContain(partition('activity', -14));
    expect(await db('activity')).toHaveLength(2);
  });

  it('leaves a month that is in use for the next call', async () => {
    await db.raw(`select make_partition('activity', date_trunc('month', now() at time zone 'UTC') - interval '20 months', 0)`);
    const reader = new pg.Client(log.database.url);
    await reader.connect();
    await reader.query('begin');
    await reader.query(`select from ${partition('activity', -20)}`);
    expect(await maintainPartitions(db)).toEqual({
      made: 0,
      dropped: 0,
      problems: [`${partition('activity', -20)} is in use`],
    });
    await reader.end();
    expect(await chore()).toBe('made 0 partitions, dropped 1, left 0 for later');
  });

  it('never drops audit entries', async () => {
    await db.raw(`select make_partition('audit_entries', '2020-01-01', 0)`);
    expect(await chore()).toBe('made 0 partitions, dropped 0, left 0 for later');
    expect(await listPartitions('audit_entries')).toContain('audit_entries_2020_01');
    await expect(db.raw(`select drop_partitions_before('audit_entries', now())`)).rejects.toMatchObject({ code: '42501' });
  });

  it('drops days of a daily table', async () => {
    await db.raw(/* sql */ `
create table parcels (parcel_id uuid primary key, tries int not null default 0) partition by range (parcel_id);
select register_partitions('parcels', 'day', ahead => 2, keep => 30, options => 'fillfactor = 85');
select make_partition('parcels', date_trunc('day', now() at time zone 'UTC') - n * interval '1 day', 0) from unnest('{29,30,31}'::int[]) n;
insert into parcels select uuidv7(make_interval(days => -n)) from unnest('{0,30,31}'::int[]) n`);
    expect(await listPartitions('parcels')).toHaveLength(3 + 3 + 1);
    expect(
      await db('pg_class').whereLike('relname', 'parcels\\_%').where({ relkind: 'r' }).distinct().pluck('reloptions'),
    ).toEqual([['fillfactor=85']]);
    expect(await chore()).toBe('made 0 partitions, dropped 1, left 0 for later');
    expect(await db('parcels')).toHaveLength(2);
    await db.raw(`drop table parcels; delete from partition_plans where table_name = 'parcels'`);
  });
});

it.each(['update', 'delete', 'truncate'])('%s is refused on every partition, by its own name too', async (verb) => {
  await chore();
  await db.raw(`drop table ${partition('audit_entries', 3)}`);
  await chore();
  const statement = {
    update: (t: string) => `update ${t} set action = 'read'`,
    delete: (t: string) => `delete from ${t}`,
    truncate: (t: string) => `truncate ${t}`,
  }[verb] as (table: string) => string;
  const tables = await listPartitions('audit_entries');
  expect(tables).toHaveLength(5);
  for (const [at, table] of tables.entries()) {
    await writeLater(table.endsWith('default') ? 60 : at);
    await expect(db.raw(statement(table))).rejects.toMatchObject({ code: '42501' });
    expect(await db(table)).toHaveLength(1);
  }
});

describe("the service's role", () => {
  const role = `service_${randomBytes(4).toString('hex')}`;
  let owned: Knex;
  let service: Knex;
  let url: URL;

  const ONE = { poolSize: 1, name: 'assent-test', acquireTimeoutMs: 30_000, statementTimeout: 40_000 };
  // As deploy/postgres/10-databases.sql does.
  beforeAll(async () => {
    url = new URL(process.env['ASSENT_TEST_PG_URL'] as string);
    const admin = openDatabase({ url: url.href, ...ONE });
    await admin.raw(`create role ${role}_owner login superuser`);
    await admin.raw(`create role ${role} login`);
    await admin.raw(`create database ${role} owner ${role}_owner`);
    await admin.destroy();
    url.pathname = `/${role}`;
    owned = openDatabase({ url: url.href, ...ONE });
    await owned.raw(`set role ${role}_owner`);
    await owned.raw(`alter default privileges in schema public grant select, insert, update, delete on tables to ${role}`);
    await owned.migrate.latest({ migrationSource });
    service = openDatabase({ url: url.href, ...ONE });
    await service.raw(`set role ${role}`);
  });
  afterAll(async () => {
    await service.destroy();
    await owned.destroy();
    const admin = openDatabase({ url: process.env['ASSENT_TEST_PG_URL'] as string, ...ONE });
    await admin.raw(`drop database ${role} with (force)`);
    await admin.raw(`drop role ${role}, ${role}_owner`);
    await admin.destroy();
  });

  it('makes partitions, writes entries and verifies the log', async () => {
    await owned.raw(`drop table ${partition('audit_entries', 3)}, ${partition('activity', 1)}`);
    expect(await maintainPartitions(service)).toEqual({ made: 2, dropped: 0, problems: [] });
    await writeEntries(service, null, 2);
    expect(await service('audit_entries')).toHaveLength(2);
    expect(await verifyChain({ db: service, config: log.config })).toMatchObject({ entries: 2, breaks: [] });
    expect((await service.raw('select * from partition_state()')).rows).toHaveLength(7);
    expect((await service.raw('select live_history() as history')).rows).toEqual([
      { history: expect.stringMatching(/^[0-9a-f]{16,}$/) },
    ]);
  });

  it.each([
    ['change an entry', `update audit_entries set action = 'read'`],
    ['change an entry in its partition', `update ${partition('audit_entries')} set action = 'read'`],
    ['delete entries of a partition that was made later', `delete from ${partition('audit_entries', 3)}`],
    ['delete entries of the default partition', 'delete from audit_entries_default'],
    ['write into a partition', `insert into ${partition('audit_entries')} select * from audit_entries`],
    ['truncate a partition', `truncate ${partition('audit_entries')}`],
    ['change a plan', `update partition_plans set keep = 1`],
    ['add a plan', `insert into partition_plans values ('users', 'user_id', 'day', 1, 1, false, null)`],
    ['make any partition', `select make_partition('audit_entries', '2020-01-01', 0)`],
    ['drop partitions', `select drop_partitions_before('activity', now())`],
    ['register a table', `select register_partitions('users', 'day', 1)`],
    ['drop the changes that clients follow', 'select start_live_changes()'],
    ['remove a guard', `select guard_partition('audit_entries', 'audit_entries_default')`],
    ['detach a month', `alter table audit_entries detach partition ${partition('audit_entries')}`],
  ])('cannot %s', async (_what, statement) => {
    await expect(service.raw(statement)).rejects.toMatchObject({
      code: '42501',
      message: expect.stringMatching(/permission denied|must be owner/),
    });
  });
});
