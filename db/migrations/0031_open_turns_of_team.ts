import type { Knex } from 'knex';

/** Counts the messages of a team that a model answers at this moment, and finds the next one that waits for a place. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create index agent_turns_open_of_team on agent_turns (team_id, created_at) where finished_at is null and team_id is not null;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
