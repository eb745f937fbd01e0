-- Deliveries of the code host, bound repositories, and links of tasks.

create table forge_deliveries (
  receipt_id uuid primary key default uuidv7(),
  delivery_id text not null,
  event text,
  normalized text,
  repo text,
  body_sha256 bytea not null,
  payload jsonb,
  received_at timestamptz not null default now(),
  outcome text check (outcome in ('applied', 'ignored', 'duplicate', 'failed')),
  reason text
);
-- The key of a handled delivery is kept forever; repetitions are stored beside it as 'duplicate'.
create unique index forge_delivery_key on forge_deliveries (delivery_id) where outcome is distinct from 'duplicate';
create index forge_deliveries_of_repo on forge_deliveries (repo, receipt_id);
create index forge_deliveries_to_empty on forge_deliveries (receipt_id) where payload is not null or outcome = 'duplicate';
create index forge_deliveries_of_body on forge_deliveries (body_sha256, received_at);

-- Counters are striped over shards, so that concurrent deliveries do not wait for one row's lock until each commit.
create table forge_counters (
  shard integer primary key,
  received_total bigint not null default 0,
  duplicates_total bigint not null default 0,
  ignored_total bigint not null default 0,
  signature_failures_total bigint not null default 0,
  last_received_at timestamptz,
  last_event text,
  last_signature_failure_at timestamptz
);

create table forge_repositories (
  binding_id uuid primary key default uuidv7(),
  repo text not null check (repo = lower(repo)),
  team_id uuid not null references teams,
  project_id uuid references projects,
  sync_issues boolean not null default false,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  unique nulls not distinct (repo, team_id, project_id)
);
create index forge_repositories_of_team on forge_repositories (team_id, repo);

create table forge_links (
  task_id text not null references tasks,
  repo text not null check (repo = lower(repo)),
  kind text not null check (kind in ('issue', 'pull_request')),
  number integer not null,
  url text,
  created_at timestamptz not null default now(),
  primary key (repo, kind, number, task_id)
);
create index forge_links_of_task on forge_links (task_id);

-- A task shows its links. They are stored with it, so that lists of 10,000 tasks need no lookup per row.
create function sync_forge_links() returns trigger language plpgsql as $$
begin
  -- Locks the task first, in a separate statement: after a lock wait the next statement sees the links committed by the other transaction.
  perform from tasks where task_id = coalesce(new.task_id, old.task_id) for no key update;
  update tasks set forge_links = (
    select coalesce(jsonb_agg(jsonb_build_object('repo', l.repo, 'number', l.number, 'kind', l.kind, 'url', l.url)
      order by l.created_at, l.kind, l.number), '[]')
    from forge_links l where l.task_id = coalesce(new.task_id, old.task_id))
  where task_id = coalesce(new.task_id, old.task_id);
  return null;
end $$;
create trigger forge_links_shown after insert or update or delete on forge_links for each row execute function sync_forge_links();
