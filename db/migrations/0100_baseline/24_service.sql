-- What the processes of the service share.

-- A client's key, claimed before the request runs. "address" is the SHA-256 of method and path, "fingerprint" that of query and body. No
-- status: the request is in progress, or its process died and the lease will expire.
create table idempotency_keys (
  user_id uuid not null references users,
  key text not null,
  address bytea not null,
  fingerprint bytea not null,
  request_id uuid not null,
  claimed_at timestamptz not null default now(),
  lease_until timestamptz not null,
  status integer,
  body text,
  primary key (user_id, key, address)
);
create index idempotency_keys_to_delete on idempotency_keys (claimed_at);

-- Counters of the rate limits, unlogged: a crash may empty them.
create unlogged table rate_limits (key text primary key, points integer not null default 0, expire bigint);
create index rate_limits_expired on rate_limits (expire);

-- Live processes: the API reports the worker and Temporal from here, without a Temporal client.
create unlogged table heartbeats (process text primary key, seen_at timestamptz not null, details jsonb not null);
