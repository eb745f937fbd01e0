-- Addresses that start automations when they are called. The token in the address is stored as its SHA-256 only.
create table automation_hooks (
  automation_id uuid primary key references automations,
  -- New with each token, so that a form replaces the address that it showed.
  hook_id uuid not null default uuidv7(),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  created_by uuid not null references users,
  -- Whoever made the address holds it: this user, and an administrator who impersonated them.
  held_by uuid[] not null,
  created_at timestamptz not null default now(),
  calls integer not null default 0,
  last_call_at timestamptz,
  last_refused_at timestamptz,
  last_refusal text
);
create unique index automation_hooks_by_token on automation_hooks (token_hash);

-- Keys of calls, so that a repetition within a day starts nothing twice.
create table automation_hook_calls (
  automation_id uuid not null references automation_hooks on delete cascade,
  -- SHA-256 of the caller's key.
  key_hash bytea not null,
  delivery_id uuid not null,
  called_at timestamptz not null default now(),
  primary key (automation_id, key_hash)
);
create index automation_hook_calls_to_delete on automation_hook_calls (called_at);
