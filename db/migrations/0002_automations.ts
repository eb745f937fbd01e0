import type { Knex } from 'knex';

/** The inbound forge webhook, and automations with their versions, runs, gates and effects. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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

create table automations (
  automation_id uuid primary key default uuidv7(),
  name text not null,
  description text,
  trigger_type text not null,
  trigger_config jsonb not null default '{}',
  condition text,
  actions jsonb not null default '[]',
  is_active boolean not null default true,
  schedule_cron text,
  schedule_timezone text not null default 'UTC',
  team_id uuid references teams,
  project_id uuid references projects,
  version integer not null default 1,
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_by uuid not null references users,
  updated_at timestamptz not null default now(),
  disabled_reason text,
  deleted_at timestamptz
);
create index automations_armed on automations (trigger_type, team_id) where is_active and deleted_at is null;
create index automations_of_team on automations (team_id, created_at, automation_id) where deleted_at is null;
create index automations_of_creator on automations (created_by) where deleted_at is null and team_id is null;

create table automation_versions (
  automation_id uuid not null references automations,
  version integer not null,
  name text not null,
  trigger_type text not null,
  trigger_config jsonb not null default '{}',
  condition text,
  actions jsonb not null,
  schedule_cron text,
  schedule_timezone text not null default 'UTC',
  changed_by uuid not null references users,
  changed_at timestamptz not null default now(),
  change_note text,
  restored_from integer,
  primary key (automation_id, version)
);

create table automation_runs (
  run_id uuid primary key,
  automation_id uuid not null references automations,
  automation_version integer not null,
  automation_name text not null,
  team_id uuid references teams,
  project_id uuid references projects,
  creator_id uuid not null references users,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'paused', 'succeeded', 'failed', 'skipped', 'expired', 'cancelled')),
  skip_reason text check (skip_reason in ('condition_false', 'rejected', 'loop')),
  trigger_type text not null,
  event jsonb not null default '{}',
  event_truncated boolean not null default false,
  condition_error text,
  is_test boolean not null default false,
  triggered_by uuid references users,
  depth integer not null default 0,
  retry_of uuid references automation_runs,
  retried_by uuid references automation_runs,
  retry_count integer not null default 0,
  correlation_id uuid not null,
  incarnation integer not null default 1,
  claimed_by text,
  -- For a paused run: the deadline of its gate, so that pending runs can be listed from an index.
  gate_expires_at timestamptz,
  error jsonb,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  foreign key (automation_id, automation_version) references automation_versions
);
create index runs_of_automation on automation_runs (automation_id, queued_at desc);
create index runs_open on automation_runs (status, queued_at) where finished_at is null;
create index runs_waiting on automation_runs (team_id, gate_expires_at, run_id) where status = 'paused';
create index runs_waiting_personally on automation_runs (creator_id, gate_expires_at, run_id) where status = 'paused' and team_id is null;
create index runs_failed on automation_runs (team_id, finished_at desc) where status = 'failed';
create index runs_of_delivery on automation_runs ((event->>'receipt_id')) where event->>'receipt_id' is not null;
-- A run has one active replay at a time.
create unique index runs_one_open_retry on automation_runs (retry_of) where finished_at is null;

create table run_actions (
  run_id uuid not null references automation_runs,
  index integer not null,
  type text not null,
  name text,
  on_failure text not null default 'continue' check (on_failure in ('continue', 'stop')),
  status text not null default 'pending'
    check (status in ('pending', 'running', 'succeeded', 'failed', 'skipped', 'staged')),
  attempts integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  output jsonb,
  error jsonb,
  primary key (run_id, index)
);

-- The row decides: approve and reject are one compare-and-set on "decision"; timers and signals only wake.
create table gates (
  run_id uuid not null references automation_runs,
  gate_index integer not null,
  required_role text not null check (required_role in ('member', 'manager', 'admin')),
  required_approvals integer not null default 1 check (required_approvals between 1 and 5),
  allow_self_approval boolean not null default true,
  message text,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  lapsed_at timestamptz,
  decision text check (decision in ('approved', 'rejected')),
  decided_by uuid references users,
  decided_at timestamptz,
  reason text,
  primary key (run_id, gate_index)
);
create table gate_approvals (
  run_id uuid not null,
  gate_index integer not null,
  user_id uuid not null references users,
  approved_at timestamptz not null default now(),
  primary key (run_id, gate_index, user_id),
  foreign key (run_id, gate_index) references gates
);

-- One row per effect, in the effect's own transaction: the key {run_id}:{action_index} is unique.
create table effects (
  run_id uuid not null references automation_runs,
  action_index integer not null,
  entity_type text not null,
  entity_id text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, action_index)
);
-- Runs that changed an item, for its page.
create index effects_of_entity on effects (entity_id, run_id);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
