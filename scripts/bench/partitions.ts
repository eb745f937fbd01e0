import { join } from 'node:path';
import type { Knex } from 'knex';
import { archiveMonths } from '../../api/audit/archive/archive-months.js';
import { writeCheckpoint } from '../../api/audit/checkpoint.js';
import { sealEntries } from '../../api/audit/seal-entries.js';
import { verifyChain } from '../../api/audit/verify-chain.js';
import { type Config, loadConfig } from '../../api/platform/config.js';
import { createLogger } from '../../api/platform/telemetry/log.js';
import { run } from '../../db/statement.js';
import { fillStatement, measured, sampleStatement } from './partitions.sql.js';
import { readCpu } from './process-table.js';
import type { Servers } from './servers.js';
import { median } from './statistics.js';

const MONTHS = 36;
const TEAMS = 200;
const BATCH = 100_000;
/** Executions of a statement between two readings of the CPU clock. */
const RUNS = 200;

interface Options {
  entries: number;
  rounds: number;
}

const line = (name: string, whole: number, parts: number, unit: string): void =>
  console.log(
    `  ${name.padEnd(30)}${whole.toFixed(1).padStart(9)}${parts.toFixed(1).padStart(13)} ${unit}   ${(parts / whole).toFixed(2)}`,
  );

/** Fills the log, and a copy of it in one table of the schema `whole`: the same name, so the same statements apply. */
async function fill(db: Knex, entries: number): Promise<void> {
  await db.raw(`select make_partition('audit_entries', date_trunc('month', now() at time zone 'UTC') - make_interval(months => n), 0)
    from generate_series(1, ${MONTHS}) n`);
  for (let done = 0; done < entries; done += BATCH) {
    await run(db, fillStatement, [Math.min(BATCH, entries - done), MONTHS, TEAMS]);
  }
  await db.raw('create schema whole; create table whole.audit_entries (like audit_entries including all)');
  await db.raw('insert into whole.audit_entries select * from audit_entries');
  await db.raw('vacuum analyze');
  await db.raw('checkpoint');
}

/** Measures each statement on both tables, in turns on one connection, and prints CPU microseconds of its backend. */
async function compareStatements(db: Knex, rounds: number): Promise<void> {
  const sample = await run<Record<string, unknown>>(db, sampleStatement, []);
  const tables = { whole: measured('whole.audit_entries'), parts: measured('public.audit_entries') };
  console.log(`  ${''.padEnd(30)}one table  ${MONTHS} partitions`);
  await db
    .transaction(async (trx) => {
      const [backend] = (await trx.raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as pid')).rows;
      for (const name of Object.keys(tables.whole)) {
        const spent: Record<keyof typeof tables, number[]> = { whole: [], parts: [] };
        // The first round warms both up.
        for (let round = 0; round <= rounds; round += 1) {
          const order = round % 2 === 0 ? (['whole', 'parts'] as const) : (['parts', 'whole'] as const);
          for (const table of order) {
            const statement = tables[table][name];
            if (!statement) continue;
            const before = readCpu(backend?.pid as number);
            for (let i = 0; i < RUNS; i += 1) {
              const row = sample[(round * RUNS + i) % sample.length] as Record<string, unknown>;
              await run(
                trx,
                statement,
                statement.takes.map((column) => row[column]),
              );
            }
            if (round > 0) spent[table].push(((readCpu(backend?.pid as number) - before) / RUNS) * 1e6);
          }
        }
        line(name, median(spent.whole), median(spent.parts), 'us CPU');
      }
      await trx.rollback(new Error('measured'));
    })
    .catch((error: Error) => {
      if (error.message !== 'measured') throw error;
    });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** Verifies the log in both forms, archives its first month, and verifies once more. */
async function compareVerification(servers: Servers, config: Config): Promise<void> {
  const services = { db: servers.db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined };
  const entries = (await sealEntries(servers.db)).sealed;
  await servers.db.raw('vacuum analyze audit_seals');
  await writeCheckpoint(services);
  const parts = await seconds(() => verifyChain(services));
  // Connections opened from here on see the copy under the name of the log. Its guards are missing, which costs nothing.
  await servers.db.raw('alter database assent set search_path = whole, public');
  const copy = servers.open();
  const whole = await seconds(() => verifyChain({ db: copy, config }));
  await copy.destroy();
  await servers.db.raw('alter database assent reset search_path');
  line(`verify, ${entries.toLocaleString('en')} entries`, whole, parts, 's     ');
  const dir = join(servers.dir, 'archive');
  const before = new Date();
  before.setUTCMonth(before.getUTCMonth() - MONTHS + 3, 1);
  let last = performance.now();
  await archiveMonths(services, {
    before: before.toISOString().slice(0, 7),
    dir,
    drop: true,
    onStep: (step, month, detail) => {
      console.log(`  archive ${month ?? ''} ${step}: ${detail}, ${((performance.now() - last) / 1_000).toFixed(2)} s`);
      last = performance.now();
    },
  });
  for (const archive of [undefined, dir]) {
    const took = await seconds(() => verifyChain(services, archive === undefined ? {} : { archive }));
    console.log(`  verify after that${archive ? ', with the files' : ''}: ${took.toFixed(1)} s`);
  }
}

/** Compares a log of 36 monthly partitions with the same log in one table, in one run: what counts is the ratio. */
export async function measurePartitions(servers: Servers, { entries, rounds }: Options): Promise<void> {
  await servers.start();
  // Autovacuum would add its cost to whatever is measured meanwhile.
  await servers.db.raw('alter system set autovacuum = off');
  await servers.db.raw('select pg_reload_conf()');
  const config = loadConfig({ NODE_ENV: 'test', DATABASE_URL: 'postgres://bench', DATA_DIR: servers.dir, LOG_LEVEL: 'silent' });
  console.log(`${entries.toLocaleString('en')} audit entries of ${TEAMS} teams in ${MONTHS} months`);
  await fill(servers.db, entries);
  await compareStatements(servers.db, rounds);
  await compareVerification(servers, config);
}
