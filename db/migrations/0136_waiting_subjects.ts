import type { Knex } from 'knex';
import { sqlMigration } from './sql-files.js';

/** Batches are transactions of their own, and an index that is built while the service runs is built outside of one. */
export const config = { transaction: false };

const AT_ONCE = 1_000;

/** What waits, its text written again so that the trigger reads it. Who decides it now holds its row: it waits no more in a moment. ? = the last id before, most rows. */
const BACKFILLS = [
  /* sql */ `
  with batch as materialized (
    select g.run_id, g.gate_index from automation_runs r join gates g using (run_id)
    where r.status = 'paused' and r.run_id > ?::uuid and g.decision is null order by r.run_id limit ? for update of g skip locked
  ), named as (
    update gates g set staged = g.staged from batch b where g.run_id = b.run_id and g.gate_index = b.gate_index
  )
  select max(run_id::text) as last from batch`,
  /* sql */ `
  with batch as materialized (
    select action_id from agent_plans where status = 'staged' and action_id > ?::uuid order by action_id limit ? for update skip locked
  ), named as (
    update agent_plans p set canonical = p.canonical from batch b where p.action_id = b.action_id
  )
  select max(action_id::text) as last from batch`,
  /* sql */ `
  with batch as materialized (
    select request_id from change_requests where status = 'pending' and request_id > ?::uuid order by request_id limit ? for update skip locked
  ), named as (
    update change_requests r set canonical = r.canonical from batch b where r.request_id = b.request_id
  )
  select max(request_id::text) as last from batch`,
];

/** Indexes of what waits, which are read more often than written: no entry waits in a list. */
const INDEXES = [
  ['gates_about', 'gates using gin (subjects) with (fastupdate = off) where decision is null and subjects is not null'],
  [
    'agent_plans_about',
    "agent_plans using gin (subjects) with (fastupdate = off) where status = 'staged' and subjects is not null",
  ],
  [
    'change_requests_about',
    "change_requests using gin (subjects) with (fastupdate = off) where status = 'pending' and subjects is not null",
  ],
] as const;

/** A build that was interrupted leaves an invalid one. ? = name. */
const IS_INVALID = /* sql */ `select from pg_index where indexrelid = to_regclass(?) and not indisvalid`;

/** Lets the page of a task find what waits for a yes about it. */
export async function up(knex: Knex): Promise<void> {
  await knex.transaction(async (trx) => sqlMigration('0136_waiting_subjects.sql').up(trx));
  for (const batch of BACKFILLS) {
    for (let last: string | null = '00000000-0000-0000-0000-000000000000'; last !== null; ) {
      const values: (string | number)[] = [last, AT_ONCE];
      const { rows } = await knex.transaction((trx) => trx.raw<{ rows: { last: string | null }[] }>(batch, values));
      last = rows[0]?.last ?? null;
    }
  }
  for (const [name, on] of INDEXES) {
    const { rows } = await knex.raw<{ rows: unknown[] }>(IS_INVALID, [name]);
    if (rows.length > 0) await knex.raw('drop index concurrently ??', [name]);
    await knex.raw(`create index concurrently if not exists ${name} on ${on}`);
  }
}

export const down = (): Promise<never> => Promise.reject(new Error('Migrations go forward only: restore a backup instead'));
