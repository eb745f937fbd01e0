import type { Knex } from 'knex';

/** The token that wrote a message to the agent: it may not confirm what the agent then proposes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table agent_turns add column token_id uuid references personal_access_tokens;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
