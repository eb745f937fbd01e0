-- The gate before other MCP servers: their tools as an admin has pinned them, and what is asked for through them.

create table mcp_upstreams (
  upstream_id uuid primary key,
  team_id uuid not null references teams,
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  url text not null,
  -- Headers by name; values name secrets as {{secret:NAME}} and hold none.
  headers jsonb not null,
  hold_seconds integer not null default 20 check (hold_seconds between 0 and 25),
  is_active boolean not null default true,
  -- Whether clients that declare the protocol's extension for tasks get one for a call that people decide about.
  offers_tasks boolean not null default false,
  -- When its tools were last compared with the pinned ones.
  checked_at timestamptz,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  unique (team_id, slug)
);
create index mcp_upstreams_by_slug on mcp_upstreams (slug);

create table mcp_tools (
  upstream_id uuid not null references mcp_upstreams on delete cascade,
  name text not null check (length(name) <= 200),
  -- The definition that agents read and people have pinned (RFC 8785), and its SHA-256. Null until it is pinned.
  definition text check (octet_length(definition) <= 16384),
  tool_hash bytea,
  policy text not null default 'ask' check (policy in ('allow', 'ask', 'deny')),
  state text not null check (state in ('pinned', 'new', 'changed', 'gone')),
  -- What the server shows now, where it differs.
  seen text check (octet_length(seen) <= 16384),
  seen_hash bytea,
  pinned_by uuid references users,
  pinned_at timestamptz,
  primary key (upstream_id, name),
  check ((definition is null) = (tool_hash is null)),
  check (state <> 'pinned' or definition is not null)
);

create table mcp_calls (
  call_id uuid not null default uuidv7(),
  upstream_id uuid not null,
  token_id uuid not null,
  name text not null,
  arguments_hash bytea not null,
  duration_ms integer not null,
  result text not null check (result in ('answered', 'error', 'failed', 'changed')),
  primary key (call_id)
) partition by range (call_id);
create index mcp_calls_of_upstream on mcp_calls (upstream_id, call_id);
select register_partitions('mcp_calls', 'day', ahead => 3, keep => 30);

-- Of a call through the gateway: its server, and what finds it again when a client that timed out repeats the call.
alter table change_requests add column upstream_id uuid references mcp_upstreams on delete set null;
alter table change_requests add column call_hash bytea;
create unique index change_requests_asked on change_requests (token_id, call_hash) where call_hash is not null;
create index change_requests_of_upstream on change_requests (upstream_id) where upstream_id is not null;
