-- Jobs that export or import the data of a team, the rows of an import, and uploaded inputs.

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
  -- Export: the object that the present attempt writes. Import: the rows of the input, checked and in the order in which they are written.
  pending_key text unique,
  -- Of the object: bytes, and SHA-256 in lower-case hexadecimal.
  size bigint check (size >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- When the object is removed.
  expires_at timestamptz,
  -- Import: {chunk: the next one, chunks: their number, prepared_key}; null until the input is prepared.
  cursor jsonb,
  -- Import: what could not be taken over of records that were written: the first of {line, entity, message}, and the number of all.
  notes jsonb not null default '[]',
  noted integer not null default 0,
  -- Import: the cascade in the trash that undid it.
  undo_id uuid,
  undo_status text check (undo_status in ('queued', 'running', 'succeeded', 'failed')),
  undone integer not null default 0,
  undo_requested_by uuid references users,
  requested_by uuid not null references users,
  correlation_id uuid not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check (not (is_dispatched and waiting_since is not null)),
  check ((status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  check ((undo_status is null) = (undo_id is null) and (undo_status is null) = (undo_requested_by is null)),
  check (kind = 'import' or undo_id is null)
);
-- One job of a team at a time.
create unique index bulk_slot_of_team on bulk_jobs (team_id) where is_dispatched;
create index bulk_jobs_waiting on bulk_jobs (team_id, waiting_since, job_id) where waiting_since is not null;
create index bulk_jobs_of_team on bulk_jobs (team_id, created_at, job_id);
create index bulk_objects_to_expire on bulk_jobs (expires_at) where object_key is not null;
create index bulk_jobs_ended on bulk_jobs (finished_at) where finished_at is not null;

-- Parts of the prepared rows of an import; each is written in one transaction, which moves the cursor of the job.
create table bulk_chunks (
  job_id uuid not null references bulk_jobs on delete cascade,
  chunk integer not null,
  kind text not null,
  -- First byte in the object, and the byte behind the last.
  byte_from bigint not null,
  byte_to bigint not null,
  rows integer not null,
  primary key (job_id, chunk)
);

-- Records that an import has written, and lines that failed. Written with the records: an undo reads it, and rows that name them by their
-- ids in the file.
create table bulk_rows (
  job_id uuid not null references bulk_jobs on delete cascade,
  line integer not null,
  -- Number of the record in its line; -1 for an error.
  part integer not null,
  entity text,
  -- Id in the file, if the stored record has another one; id of the stored record.
  ref text,
  item_id text,
  outcome text not null check (outcome in ('created', 'updated', 'skipped', 'failed')),
  -- Why it failed.
  message text,
  undone_at timestamptz,
  primary key (job_id, line, part)
);
create index bulk_rows_by_ref on bulk_rows (job_id, entity, ref) where ref is not null;
create index bulk_rows_created on bulk_rows (job_id, entity, item_id) where outcome = 'created';
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
