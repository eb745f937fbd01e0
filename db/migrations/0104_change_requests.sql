-- Change requests: any program asks people for a yes before it acts, bound to exactly what it will do.

create table change_requests (
  request_id uuid primary key,
  team_id uuid not null references teams,
  requested_by uuid not null references users,
  token_id uuid references personal_access_tokens,
  source text not null check (source in ('api', 'cli', 'mcp', 'gateway')),
  executor text not null default 'requester' check (executor in ('requester', 'assent')),
  -- The request itself (RFC 8785): shown, hashed, decided by that hash, and executed. The other columns serve lists.
  canonical text not null check (octet_length(canonical) <= 262144),
  request_hash bytea not null,
  revision integer not null default 1,
  operation_hashes bytea[] not null,
  -- SHA-256 of system, name and target of each operation, whatever its arguments.
  place_hashes bytea[] not null,
  systems text[] not null,
  title text not null,
  risk text check (risk in ('low', 'medium', 'high')),
  -- Users behind the request: who asked, who acted through them, who edited it.
  self_ids uuid[] not null,
  required_role text not null check (required_role in ('member', 'manager', 'admin')),
  required_approvals integer not null check (required_approvals between 1 and 5),
  allow_self boolean not null,
  require_code boolean not null,
  wrong_codes smallint not null default 0,
  status text not null default 'pending'
    check (status in ('pending', 'approved', 'redeemed', 'rejected', 'cancelled', 'expired', 'stale')),
  closed_reason text
    check (closed_reason in ('requester', 'manager', 'approver', 'changed', 'source_gone', 'time', 'use_window', 'tool_changed', 'code')),
  -- Who gave the last approval, or closed it.
  decided_by uuid references users,
  -- Counts what has happened to it, so that a caller who waits sees each change once.
  seq integer not null default 1,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  remind_at timestamptz,
  reminded_at timestamptz,
  mailed_at timestamptz,
  use_seconds integer not null check (use_seconds between 30 and 86400),
  use_until timestamptz,
  redemption_id uuid,
  redeemed_by uuid references users,
  redeemed_token uuid,
  redeemed_at timestamptz,
  receipt_seconds integer,
  -- The key that signed the receipt.
  key_id text,
  outcome text check (outcome in ('succeeded', 'failed', 'unknown')),
  outcome_due timestamptz,
  outcome_at timestamptz,
  -- What the program reported. Null if time made the outcome unknown: a late report replaces that.
  outcome_details jsonb,
  ended_at timestamptz,
  -- Of Assent's own performance: 1 once the call may have begun, so that it happens at most once.
  attempts smallint not null default 0,
  incarnation integer not null default 1,
  depth integer not null default 0,
  correlation_id uuid not null,
  unique (team_id, redemption_id),
  check (status not in ('approved', 'redeemed') or use_until is not null),
  check ((status = 'redeemed') = (redemption_id is not null)),
  check (outcome is null or status = 'redeemed'),
  check ((status in ('pending', 'approved')) = (ended_at is null))
) with (fillfactor = 70);
create index change_requests_open on change_requests (team_id, expires_at, request_id) where status in ('pending', 'approved');
create index change_requests_due on change_requests (coalesce(use_until, expires_at)) where status in ('pending', 'approved');
create index change_requests_unreported on change_requests (outcome_due) where status = 'redeemed' and outcome is null;
create index change_requests_of_team on change_requests (team_id, request_id desc);
create index change_requests_open_of_requester on change_requests (requested_by) where status in ('pending', 'approved');
create index change_requests_refused on change_requests (requested_by, ended_at) where status = 'rejected';
create index change_requests_of_requester on change_requests (requested_by, request_id desc);
create index change_requests_open_of_token on change_requests (token_id) where status in ('pending', 'approved');
create index change_requests_ended on change_requests (ended_at) where ended_at is not null;

create table change_request_decisions (
  request_id uuid not null references change_requests on delete cascade,
  revision integer not null,
  user_id uuid not null references users,
  decision text not null check (decision in ('approved', 'rejected')),
  request_hash bytea not null,
  comment text,
  decided_at timestamptz not null,
  primary key (request_id, revision, user_id)
);
create index change_request_decisions_of_user on change_request_decisions (user_id);

-- What an operation answered that Assent performed. Secrets are redacted; kept for seven days.
create table change_request_results (
  request_id uuid primary key references change_requests on delete cascade,
  result text not null check (octet_length(result) <= 65536),
  is_cut boolean not null,
  is_error boolean not null,
  stored_at timestamptz not null default now()
);
create index change_request_results_stored on change_request_results (stored_at);

-- What a team requires of operations: the first rule by position that matches.
create table request_rules (
  rule_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  position integer not null check (position between 0 and 99),
  system text not null,
  name text not null,
  target text not null,
  role text check (role in ('member', 'manager', 'admin')),
  approvals integer check (approvals between 1 and 5),
  allow_self boolean,
  require_code boolean not null,
  is_denied boolean not null,
  max_use_seconds integer check (max_use_seconds between 30 and 86400),
  unique (team_id, position)
);
-- How often the rules of a team were replaced.
create table request_rule_versions (
  team_id uuid primary key references teams,
  version integer not null default 0
);

-- Callers that wait for a request are told of each change.
create function tell_of_request() returns trigger language plpgsql as $$
begin
  perform pg_notify('assent_requests', new.request_id::text);
  return null;
end $$;
create trigger request_changes after update of seq on change_requests for each row
  when (old.seq <> new.seq) execute function tell_of_request();

-- Notifications name the request that waits, and are read once it does no more.
alter table notifications add column request_id uuid references change_requests on delete set null;
create index notifications_of_request on notifications (request_id) where request_id is not null;
create function read_requests_of_request() returns trigger language plpgsql as $$
begin
  update notifications n set read_at = clock_timestamp() from (
    select w.notification_id from notifications w where w.request_id = new.request_id and w.read_at is null
      and w.kind in ('change_requested', 'change_reminder') for no key update skip locked
  ) asked where n.notification_id = asked.notification_id;
  return null;
end $$;
create trigger request_decided after update of status on change_requests for each row
  when (old.status = 'pending' and new.status <> 'pending') execute function read_requests_of_request();

-- The log of decisions counts requests too: one row each time one stops waiting.
alter table decision_log drop constraint decision_log_kind_check;
alter table decision_log add constraint decision_log_kind_check check (kind in ('gate', 'plan', 'request'));
create function log_request_end() returns trigger language plpgsql as $$
begin
  insert into decision_log (kind, team_id, user_id, source, state, requested_at, decided_by)
  values ('request', new.team_id, new.requested_by, 'request:' || new.systems[1], case
    when new.status in ('approved', 'rejected', 'expired') then new.status else 'cancelled' end, new.created_at, new.decided_by);
  return null;
end $$;
create trigger request_ends after update of status on change_requests for each row
  when (old.status = 'pending' and new.status <> 'pending') execute function log_request_end();
