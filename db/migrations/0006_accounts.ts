import type { Knex } from 'knex';

/** Email, one-time codes, second factors, trusted devices, and counted sign-in attempts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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
alter table sessions add column device_id uuid references trusted_devices on delete set null;
create index sessions_of_device on sessions (device_id) where device_id is not null;

-- One row per unused code.
create table recovery_codes (
  user_id uuid not null references users,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- The secret is encrypted from now on. Only the demo data had one before.
update users set two_factor_enabled_at = null where two_factor_secret is not null;
alter table users
  alter column two_factor_secret type bytea using null,
  add column two_factor_step bigint,
  drop column failed_logins,
  drop column first_failed_login_at,
  drop column locked_until;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
