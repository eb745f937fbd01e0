import type { Knex } from 'knex';

/** An index that is built while the service runs is built outside of a transaction. */
export const config = { transaction: false };

/** A build that was interrupted leaves an invalid one. */
const IS_INVALID = /* sql */ `select from pg_index where indexrelid = to_regclass('tasks_of_stage') and not indisvalid`;

/** Finds the tasks of a stage that is deleted. A task without a stage is not in it. */
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: unknown[] }>(IS_INVALID);
  if (rows.length > 0) await knex.raw('drop index concurrently tasks_of_stage');
  await knex.raw(
    'create index concurrently if not exists tasks_of_stage on tasks (stage_id, task_id) where stage_id is not null',
  );
}

export const down = (): Promise<never> => Promise.reject(new Error('Migrations go forward only: restore a backup instead'));
