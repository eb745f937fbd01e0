import type { Knex } from 'knex';

/** Mail, one-time codes, second factors, trusted devices, and attempts that are counted (decisions A1 to A7, N3). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Written with what it tells about; the worker's dispatcher sends it. "sealed_data" fills the template: encrypted, because it may
-- hold a code, and gone once the mail was handed over. A mail that is of no use after a time is not sent after it.
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

-- One code at a time for a purpose and a mail address, whether or not the address has an account. "code_hash" is an HMAC; null
-- once the code was used. "issued_count" counts the codes since "window_started_at": nobody's mailbox is filled by others.
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

-- Tries at the secrets of an account, by its mail address, or from one of its trusted devices: counted before they are judged.
-- An address without an account is counted too, so that the two cannot be told apart.
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

-- A row is a code that was not used yet.
create table recovery_codes (
  user_id uuid not null references users,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- The secret is kept encrypted from now on. Until now only the demo data had one.
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
