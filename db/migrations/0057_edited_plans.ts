import type { Knex } from 'knex';

/** Who edited a plan before a yes, one copy after the other. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `alter table agent_plans add column edited_by uuid[] not null default '{}';`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
