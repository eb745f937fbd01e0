/**
 * `npm run release:fixture`, while `npm start` runs with fresh demo data and after `npm run demo`: writes the rows of every table to
 * test/db/upgrade/VERSION.jsonl.gz, one line a row. The test of upgrades begins with them. Part of each release; changes nothing in the database.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { runningState } from '../embedded/run-state.mjs';
import { dataDir, root } from '../embedded/settings.mjs';

const FOLDER = join(root, 'test', 'db', 'upgrade');
/** Not of a partition, nor of a temporary table; the present partitions follow from the clock of the machine that loads the rows. */
const TABLES = `
  select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname !~ '^knex_' and relname <> 'partition_plans' order by relname`;

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const client = new pg.Client(runningState(dataDir())?.env?.DATABASE_URL ?? process.env.DATABASE_URL);
await client.connect();
await client.query('begin isolation level repeatable read');
await client.query(readFileSync(join(FOLDER, 'fill-tables.sql'), 'utf8'));
await client.query('set constraints all immediate');
const { rows: migrations } = await client.query('select name from knex_migrations order by id');
const lines = [JSON.stringify({ version, migrations: migrations.map(({ name }) => name) })];
const empty = [];
for (const { name } of (await client.query(TABLES)).rows) {
  // Text, because JavaScript would round numbers.
  const { rows } = await client.query(`select to_jsonb(r)::text as row from ${name} r order by 1`);
  if (rows.length === 0) empty.push(name);
  lines.push(...rows.map(({ row }) => `${name} ${row}`));
}
await client.query('rollback');
await client.end();
if (empty.length > 0) throw new Error(`Add rows to fill-tables.sql, the demo leaves these tables empty: ${empty.join(', ')}`);
writeFileSync(join(FOLDER, `${version}.jsonl.gz`), gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
process.stdout.write(`${lines.length - 1} rows of version ${version}\n`);
