import type { Knex } from 'knex';

/** Jobs that export or import the data of a team, the rows of an import, and uploaded inputs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
create table bulk_jobs (
  job_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  kind text not null check (kind in ('export', 'import')),
  format text not null check (format in ('ndjson', 'json', 'csv', 'jira_csv', 'linear_csv', 'github_json')),
  -- Export: {entities, project_ids}. Import: {on_conflict, project_id}.
  options jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  -- Since when the job, or its undo, waits for the team's place; null if it has it or has ended.
  waiting_since timestamptz default now(),
  -- Holds the team's place: its workflow was enqueued and has not ended.
  is_dispatched boolean not null default false,
  -- Raised by each claim. An older attempt writes nothing any more.
  attempt integer not null default 0,
  -- Null while it is unknown.
  total integer,
  processed integer not null default 0,
  created integer not null default 0,
  updated integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  -- Code of why it could not go on.
  error_code text,
  -- Export: the finished file. Import: the input.
  object_key text unique,
  -- Export: the object that the present attempt writes.
  pending_key text unique,
  -- Of the object: bytes, and SHA-256 in lower-case hexadecimal.
  size bigint check (size >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- When the object is removed.
  expires_at timestamptz,
  -- Import: where the next batch begins.
  cursor jsonb,
  -- Import: the cascade in the trash that undid it.
  undo_id uuid,
  undo_status text check (undo_status in ('queued', 'running', 'succeeded', 'failed')),
  undone integer not null default 0,
  requested_by uuid not null references users,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check (not (is_dispatched and waiting_since is not null)),
  check ((status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  check ((undo_status is null) = (undo_id is null)),
  check (kind = 'import' or undo_id is null)
);
-- One job of a team at a time.
create unique index bulk_place_of_team on bulk_jobs (team_id) where is_dispatched;
create index bulk_jobs_waiting on bulk_jobs (team_id, waiting_since, job_id) where waiting_since is not null;
create index bulk_jobs_of_team on bulk_jobs (team_id, created_at, job_id);
create index bulk_objects_to_expire on bulk_jobs (expires_at) where object_key is not null;
create index bulk_jobs_ended on bulk_jobs (finished_at) where finished_at is not null;

-- What became of each line of an import, written with the records of its batch: a repeated batch skips these lines.
create table bulk_rows (
  job_id uuid not null references bulk_jobs on delete cascade,
  line integer not null,
  entity text,
  -- Id in the file, and id of the stored record.
  ref text,
  item_id text,
  outcome text not null check (outcome in ('created', 'updated', 'skipped', 'failed', 'waiting')),
  -- Why it failed.
  message text,
  undone_at timestamptz,
  primary key (job_id, line)
);
create index bulk_rows_by_ref on bulk_rows (job_id, entity, ref) where ref is not null;
create index bulk_rows_failed on bulk_rows (job_id, line) where outcome = 'failed';

-- Inputs of imports that are too large for one request body.
create table bulk_uploads (
  file_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  uploaded_by uuid not null references users,
  size bigint not null check (size >= 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  object_key text not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index bulk_uploads_of_team on bulk_uploads (team_id);
create index bulk_uploads_to_expire on bulk_uploads (expires_at);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
