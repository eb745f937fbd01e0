import type { Knex } from 'knex';

/** Gates that ask again when a target changes between the yes and the performance. A version of the service that does not know them proceeds. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table gates
  add column asks_again boolean not null default false,
  -- How often a change has opened it again.
  add column reopened smallint not null default 0,
  -- Versions of the targets by id: as they were at the first yes, and after each action of the run itself.
  add column known_versions jsonb;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
