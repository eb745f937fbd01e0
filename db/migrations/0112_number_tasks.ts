import type { Knex } from 'knex';

/** Each batch is a transaction of its own, so that a migration that was interrupted goes on where it stopped. */
export const config = { transaction: false };

const TEAMS_AT_ONCE = 500;
const TASKS_AT_ONCE = 1_000;

/** A sequence and a key for teams of before. $1 = most teams. Returns how many got them. */
const BEGIN_TEAMS = /* sql */ `
  with batch as (select team_id from teams where key is null limit ?)
  update teams t set key = make_team_key(t.name) from batch where t.team_id = batch.team_id
  returning make_task_numbers(t.team_id)`;

/** From now on every new task has a number, also one that a process of the version before writes. */
const BEGIN_TASKS = /* sql */ `
  create or replace trigger task_is_numbered before insert on tasks for each row execute function number_task()`;

/** Numbers tasks of before in the order of their ids, which is that of their creation unless a client chose them. ? = the last id before, most tasks. */
const NUMBER_TASKS = /* sql */ `
  with batch as materialized (
    select task_id, team_id, number from tasks where task_id > ? order by task_id limit ?
  ), given as materialized (
    select task_id, next_task_number(team_id) as number from batch where number is null
  ), numbered as (
    update tasks t set number = g.number from given g where t.task_id = g.task_id
  )
  select max(task_id) as last from batch`;

/** A build of the index that was interrupted leaves an invalid one. */
const IS_INVALID = /* sql */ `select from pg_index where indexrelid = to_regclass('tasks_by_number') and not indisvalid`;

/** Numbers the teams and tasks that exist, while the service runs. */
export async function up(knex: Knex): Promise<void> {
  const once = (sql: string, values: (string | number)[] = []) =>
    knex.transaction(async (trx) => {
      // Behind a lock that waits, requests of the running service would wait too: `migrateSchema` tries again instead.
      await trx.raw("set local lock_timeout = '2s'");
      return (await trx.raw<{ rows: Record<string, unknown>[] }>(sql, values)).rows;
    });
  while ((await once(BEGIN_TEAMS, [TEAMS_AT_ONCE])).length > 0);
  await once(BEGIN_TASKS);
  for (let last: unknown = ''; typeof last === 'string'; ) last = (await once(NUMBER_TASKS, [last, TASKS_AT_ONCE]))[0]?.['last'];
  if ((await once(IS_INVALID)).length > 0) await knex.raw('drop index concurrently tasks_by_number');
  await knex.raw('create unique index concurrently if not exists tasks_by_number on tasks (team_id, number)');
}

export const down = (): Promise<never> => Promise.reject(new Error('Migrations go forward only: restore a backup instead'));
