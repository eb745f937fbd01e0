import type { Knex } from 'knex';

/** Indexes for invitation limits by sender and by address, and strict access tokens. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create index invitations_of_sender on invitations (invited_by, created_at);
create index invitations_to_address on invitations (email, created_at);

-- True: every route enforces the token's scope, whatever the installation's setting.
alter table personal_access_tokens add column strict boolean not null default false;`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
