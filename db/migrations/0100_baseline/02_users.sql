-- Users and how they sign in: sessions, devices, tokens, codes. Ids are UUIDv7.

create table users (
  user_id uuid primary key default uuidv7(),
  email text not null unique check (email = lower(email)),
  name text not null,
  username text not null unique,
  display_name text not null,
  avatar text not null,
  role text not null default 'user' check (role in ('user', 'admin')),
  status text not null default 'active' check (status in ('active', 'suspended', 'deprovisioned')),
  password_hash text,
  two_factor_secret bytea,
  two_factor_enabled_at timestamptz,
  login_otp_exempt boolean not null default false,
  preferences jsonb not null default '{}',
  created_at timestamptz not null default now(),
  two_factor_step bigint
);

create table trusted_devices (
  device_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  token_hash bytea not null unique,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index trusted_devices_of_user on trusted_devices (user_id);

create table sessions (
  session_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  impersonator_id uuid references users,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  device_id uuid references trusted_devices on delete set null,
  -- The email that reports an impersonation afterwards (no foreign key: emails are deleted).
  impersonation_mail_id uuid
);
create index sessions_of_user on sessions (user_id) where ended_at is null;
create index sessions_of_device on sessions (device_id) where device_id is not null;
create index sessions_of_impersonator on sessions (impersonator_id) where ended_at is null;

-- One row per unused code.
create table recovery_codes (
  user_id uuid not null references users,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- One code per purpose and email address, whether or not the address has an account. "code_hash" is an HMAC; null once used. "issued_count"
-- counts the codes since "window_started_at", which limits the emails to one mailbox.
create table one_time_codes (
  purpose text not null check (purpose in ('sign_up', 'login', 'password_reset')),
  address text not null,
  code_id uuid not null,
  code_hash bytea,
  attempts integer not null default 0,
  expires_at timestamptz not null,
  issued_count integer not null default 1,
  window_started_at timestamptz not null default now(),
  primary key (purpose, address)
);
create index one_time_codes_to_delete on one_time_codes (expires_at);

-- Attempts at an account's secrets, by email address or trusted device, counted before verification. Unknown addresses are counted too, so
-- that they cannot be told apart.
create table login_attempts (
  subject text primary key,
  attempts integer not null,
  first_attempt_at timestamptz not null default now(),
  locked_until timestamptz,
  unlock_hash bytea unique
);
create index login_attempts_to_delete on login_attempts (first_attempt_at);

create table personal_access_tokens (
  token_id uuid primary key default uuidv7(),
  user_id uuid not null references users,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  token_hash bytea not null unique,
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- Days before expiry of the last notice to the owner; null: none yet.
  expiry_notice_days integer,
  -- True: every route enforces the token's scope, whatever the installation's setting.
  strict boolean not null default false,
  -- A token for outside agents: it works at the MCP endpoint only, where nothing can be written.
  mcp_only boolean not null default false
);
create index tokens_of_user on personal_access_tokens (user_id);
create index tokens_to_expire on personal_access_tokens (expires_at) where revoked_at is null;

-- Inserted with its cause; the worker's dispatcher sends it. "sealed_data" fills the template: encrypted, because it may hold a code, and
-- cleared after sending. An email past its useful time is not sent.
create table mails (
  mail_id uuid primary key default uuidv7(),
  recipient text not null,
  template text not null,
  sealed_data bytea,
  state text not null default 'queued' check (state in ('queued', 'sent', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  useful_until timestamptz,
  last_error text,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  check (state <> 'sent' or sealed_data is null)
);
create index mails_due on mails (next_attempt_at) where state = 'queued';
create index mails_to_delete on mails (created_at);

-- Emails that other people caused, by address and hour. "held" ones were not sent; one digest counts them.
create table mail_budgets (
  recipient text not null,
  hour timestamptz not null,
  sent integer not null default 0,
  held integer not null default 0,
  -- Emails sent by team id, and emails held by kind.
  sent_by_team jsonb not null default '{}',
  held_by_kind jsonb not null default '{}',
  digest_queued_at timestamptz,
  primary key (recipient, hour)
);
create index mail_budgets_held on mail_budgets (hour) where held > 0 and digest_queued_at is null;
create index mail_budgets_to_delete on mail_budgets (hour);
