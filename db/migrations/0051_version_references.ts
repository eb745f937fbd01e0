import type { Knex } from 'knex';

/** Finds the runs of a version, so that a version without any can be deleted; the foreign key looks there as well. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create index runs_of_version on automation_runs (automation_id, automation_version);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
