import type { Knex } from 'knex';

/** Allowed hosts of secrets. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Normalized patterns: a host, host:port, or *.host. None: only definitions saved by a team admin may use the secret, for any host.
alter table team_secrets add column allowed_hosts text[] not null default '{}'
  constraint at_most_20_allowed_hosts check (cardinality(allowed_hosts) <= 20);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
