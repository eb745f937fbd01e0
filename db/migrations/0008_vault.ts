import type { Knex } from 'knex';

/** The vault of each team, and people's connections to other services (decisions F12 and F13). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- "sealed_value" is encrypted under a data key of its own, and "data_key" is that key under the master key, which is not in the
-- database. Both are bound to team and name: in another row they do not open.
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

-- One connection a person and a service; the tokens are kept as a secret is, bound to person and service. "refresh_lease_until": one
-- process at a time asks for new ones, because a refresh token is good once.
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

-- Tokens of connections that were ended, until the service has taken them back; bound to person and service, as they were before.
create table integration_revocations (
  revocation_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  provider text not null,
  data_key bytea not null,
  sealed_value bytea not null,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

-- Somebody was sent to a service to allow a connection; the row goes when they come back, so that a state is good for once.
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
