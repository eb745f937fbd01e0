import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Knex } from 'knex';
import { MIGRATION_NAMES, migrationSource } from '../../../db/migrations/index.js';

export interface Fixture {
  version: string;
  /** Its migrations, in order. */
  migrations: string[];
  /** Rows as JSON, by table. */
  rows: Map<string, string[]>;
}

/** Reads the rows of every table as a version wrote them. */
export function readFixture(version: string): Fixture {
  const text = gunzipSync(readFileSync(join(import.meta.dirname, `${version}.jsonl.gz`))).toString();
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const rows = new Map<string, string[]>();
  for (const line of lines) {
    const at = line.indexOf(' ');
    const table = line.slice(0, at);
    rows.set(table, [...(rows.get(table) ?? []), line.slice(at + 1)]);
  }
  return { ...(JSON.parse(head) as Pick<Fixture, 'version' | 'migrations'>), rows };
}

/** Brings an empty database to the schema of the fixture's version: released files never change, so the migrations up to its last one are that. */
export async function migrateTo(db: Knex, migrations: readonly string[]): Promise<void> {
  if (migrations.some((name, index) => MIGRATION_NAMES[index] !== name))
    throw new Error('Released migrations run in their order');
  const source = { ...migrationSource, getMigrations: () => Promise.resolve([...migrations]) };
  await db.migrate.latest({ migrationSource: source });
}

/** Turns the database into one of the fixture's version, with its rows as they are: no trigger writes another one. */
export async function loadFixture(db: Knex, { migrations, rows }: Fixture): Promise<void> {
  await db.raw('drop schema public cascade; create schema public');
  await migrateTo(db, migrations);
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw('delete from schema_compatibility');
    for (const [table, texts] of rows) {
      const { rows: columns } = await trx.raw<{ rows: { name: string }[] }>(
        `select quote_ident(attname) as name from pg_attribute
         where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
        [table],
      );
      const names = columns.map(({ name }) => name).join(', ');
      await trx.raw(
        `insert into ${table} (${names}) overriding system value
         select ${names} from unnest(?::jsonb[]) as given(row) cross join lateral jsonb_populate_record(null::${table}, given.row)`,
        [texts],
      );
    }
    const { rows: counters } = await trx.raw<{ rows: { name: string; column: string }[] }>(
      `select attrelid::regclass::text as name, attname as column from pg_attribute where attidentity <> '' and attrelid::regclass::text = any(?)`,
      [[...rows.keys()]],
    );
    for (const { name, column } of counters)
      await trx.raw(`select setval(pg_get_serial_sequence('${name}', '${column}'), max(${column})) from ${name}`);
  });
}

/** Returns the rows of the fixture that the database has no longer, or with another value in one of their columns; new columns do not count. */
export async function findLostRows(db: Knex, { rows }: Fixture): Promise<string[]> {
  const lost: string[] = [];
  for (const [table, texts] of rows) {
    const { rows: found } = await db.raw<{ rows: { row: string }[] }>(
      `select given.row::text as row from unnest(?::jsonb[]) as given(row)
       where not exists (select from ${table} t where to_jsonb(t) @> given.row)`,
      [texts],
    );
    lost.push(...found.map(({ row }) => `${table} ${row}`));
  }
  return lost;
}
