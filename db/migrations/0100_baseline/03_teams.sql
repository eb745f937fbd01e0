-- Teams and their members, what a team or a user keeps secret, and how a user is deprovisioned.

create table teams (
  team_id uuid primary key default uuidv7(),
  name text not null,
  description text,
  plan text not null default 'scale' check (plan in ('free', 'team', 'scale')),
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Decisions about all gates and plans of the team are made by a signed-in person only, never by a token.
  decisions_signed_in boolean not null default false
);
create index teams_created_by on teams (created_by) where deleted_at is null;

create table memberships (
  team_id uuid not null references teams,
  user_id uuid not null references users,
  role text not null check (role in ('admin', 'manager', 'member', 'guest')),
  joined_at timestamptz not null default now(),
  primary key (team_id, user_id)
);
create index memberships_of_user on memberships (user_id);

create table invitations (
  invitation_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  email text check (email = lower(email)),
  role text not null check (role in ('admin', 'manager', 'member', 'guest')),
  invited_by uuid not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  user_id uuid references users,
  constraint invitations_invitee check (num_nonnulls(email, user_id) = 1)
);
create unique index invitations_open on invitations (team_id, email) where accepted_at is null and revoked_at is null;
create index invitations_of_address on invitations (email) where accepted_at is null and revoked_at is null;
create index invitations_of_sender on invitations (invited_by, created_at);
create index invitations_to_address on invitations (email, created_at);
create unique index invitations_open_of_user on invitations (team_id, user_id) where accepted_at is null and revoked_at is null;
create index invitations_to_user on invitations (user_id, created_at) where user_id is not null;

create table conversations (
  conversation_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  title text not null,
  is_default boolean not null,
  created_at timestamptz not null default now()
);
create index conversations_of_team on conversations (team_id);

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
  -- Normalized patterns: a host, host:port, or *.host. None: only definitions saved by a team admin may use the secret, for any host.
  allowed_hosts text[] not null default '{}' constraint at_most_20_allowed_hosts check (cardinality(allowed_hosts) <= 20),
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
-- The users who caused a delivery, by their accounts at the code host.
create index connections_by_account on integration_connections (provider, lower(account));

-- Tokens of deleted connections, until the provider has revoked them; encryption is bound to user and provider.
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

-- Deprovisioning of a user: requested once, driven by a workflow. "requested_by" is null for the operator's command.
create table deprovision_jobs (
  job_id uuid primary key default uuidv7(),
  user_id uuid not null unique references users,
  reassign_to uuid references users,
  reason text not null,
  requested_by uuid references users,
  correlation_id uuid not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded')),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index deprovision_jobs_open on deprovision_jobs (created_at) where finished_at is null;

-- Inserted with the step's changes, so that each step happens once, however often it is retried.
create table deprovision_steps (
  job_id uuid not null references deprovision_jobs,
  step text not null,
  team_id uuid references teams,
  result jsonb not null,
  done_at timestamptz not null default now(),
  unique nulls not distinct (job_id, step, team_id)
);
