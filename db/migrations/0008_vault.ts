import type { Knex } from 'knex';

/** The vault of each team, and users' connections to other services. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- "sealed_value" is encrypted under its own data key, and "data_key" is that key encrypted under the master key, which is not in the
-- database. Both are bound to team and name: in another row decryption fails.
create table team_secrets (
  team_id uuid not null references teams,
  name text not null,
  data_key bytea not null,
  sealed_value bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by uuid not null references users,
  primary key (team_id, name)
);

-- One connection per user and provider; tokens are encrypted like secrets, bound to user and provider. "refresh_lease_until": one process
-- at a time refreshes, because a refresh token is valid once.
create table integration_connections (
  user_id uuid not null references users,
  provider text not null,
  account text not null,
  scopes text[] not null,
  data_key bytea not null,
  sealed_value bytea not null,
  expires_at timestamptz,
  refresh_lease_until timestamptz,
  connected_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (user_id, provider)
);

-- Tokens of deleted connections, until the provider has revoked them; encryption is bound to user and provider, as before.
create table integration_revocations (
  revocation_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  provider text not null,
  data_key bytea not null,
  sealed_value bytea not null,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

-- A user was sent to a provider to allow a connection; the row is deleted on return, so a state is valid once.
create table integration_requests (
  state_hash bytea primary key,
  user_id uuid not null references users,
  provider text not null,
  sealed_verifier bytea not null,
  expires_at timestamptz not null
);
create index integration_requests_to_delete on integration_requests (expires_at);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
