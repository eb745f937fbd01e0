import type { Knex } from 'knex';

/** The list of rejected runs reads rejected runs only, and not those that a condition skipped. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create index runs_rejected on automation_runs (automation_id, queued_at desc, run_id desc) where skip_reason = 'rejected';
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
