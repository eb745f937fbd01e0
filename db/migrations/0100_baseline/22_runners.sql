-- Runners: programs on machines of a team that ask for jobs, the jobs, and their logs.

-- Each registers one runner: its row is deleted by the registration.
create table runner_registration_tokens (
  token_hash bytea primary key,
  team_id uuid not null references teams,
  created_by uuid not null references users,
  expires_at timestamptz not null
);
create index runner_registration_tokens_of_team on runner_registration_tokens (team_id, created_by);
create index runner_registration_tokens_to_delete on runner_registration_tokens (expires_at);

create table runners (
  runner_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  name text not null,
  labels text[] not null,
  version text not null,
  token_hash bytea not null unique,
  -- The admin whose registration token it used.
  created_by uuid not null references users,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz
) with (fillfactor = 70);
create index runners_of_team on runners (team_id, created_at, runner_id);

create table runner_jobs (
  job_id uuid primary key default uuidv7(),
  team_id uuid not null references teams,
  status text not null default 'queued'
    check (status in ('queued', 'claimed', 'running', 'succeeded', 'failed', 'lost', 'cancelled', 'timed_out')),
  command text not null,
  -- {NAME: [text, {"secret": NAME}, …]}: pieces in order. A value of a secret is never stored.
  env jsonb not null,
  labels text[] not null,
  timeout_minutes integer not null,
  created_by uuid not null references users,
  -- The step of a run that waits for it. A run may be deleted before its jobs.
  run_id uuid,
  action_index integer,
  action_attempt integer,
  -- Users who allowed its secrets; each must still be allowed to when a runner takes it.
  secret_user_ids uuid[] not null default '{}',
  -- Users who caused it, besides its creator, and its depth in the chain of automations.
  cause_user_ids uuid[] not null default '{}',
  depth integer not null default 0,
  correlation_id uuid not null,
  -- Kept when the runner is deleted.
  runner_id uuid,
  runner_name text,
  queued_at timestamptz not null default now(),
  claimed_at timestamptz,
  finished_at timestamptz,
  -- A runner that reports nothing until then has lost the job.
  lease_until timestamptz,
  cancel_requested_at timestamptz,
  exit_code integer,
  output text,
  error_code text,
  error text,
  -- Values that the log must not show, and the end of the log that may be the beginning of one. Encrypted under a key that only the
  -- runner's token yields; cleared when the job ends.
  masked_values bytea,
  masked_tail bytea,
  -- Bytes as the runner sent them, and as stored.
  log_received bigint not null default 0,
  log_size bigint not null default 0,
  log_chunks integer not null default 0,
  is_log_truncated boolean not null default false,
  -- What the log counts of the team's quota, in blocks of 16 kB.
  log_blocks integer not null default 0,
  -- Logs of the team that came later needed its place.
  is_log_deleted boolean not null default false,
  check ((status in ('claimed', 'running')) = (lease_until is not null)),
  check (status <> 'queued' or runner_id is null),
  check ((finished_at is null) = (status in ('queued', 'claimed', 'running'))),
  check (num_nonnulls(run_id, action_index, action_attempt) in (0, 3)),
  check (finished_at is null or num_nonnulls(masked_values, masked_tail) = 0)
) with (fillfactor = 70);
create index runner_jobs_queued on runner_jobs (team_id, queued_at, job_id) where status = 'queued';
create index runner_jobs_of_team on runner_jobs (team_id, job_id desc);
create index runner_jobs_by_status on runner_jobs (team_id, status, job_id desc);
-- A runner does one job at a time, whatever it asks for at once.
create unique index runner_jobs_held on runner_jobs (runner_id) where status in ('claimed', 'running');
create unique index runner_jobs_of_step on runner_jobs (run_id, action_index, action_attempt) where run_id is not null;
create index runner_jobs_open on runner_jobs (job_id) where finished_at is null;
create index runner_jobs_to_delete on runner_jobs (finished_at) where finished_at is not null;
-- The logs that make room for others, oldest first.
create index runner_jobs_with_logs on runner_jobs (team_id, finished_at, job_id) where finished_at is not null and log_blocks > 0;

-- Sum of the blocks of a team's jobs. A job adds to it before it writes, so its row is never summed up.
create table runner_log_usage (
  team_id uuid primary key references teams,
  blocks bigint not null check (blocks >= 0)
) with (fillfactor = 50);

create table runner_job_logs (
  job_id uuid not null references runner_jobs on delete cascade,
  -- In bytes of what the runner sent.
  "offset" bigint not null,
  -- In bytes of what is stored.
  position bigint not null,
  text text not null,
  primary key (job_id, "offset")
);
create unique index runner_job_logs_by_position on runner_job_logs (job_id, position);

-- A job as lists and events show it: without its command, its variables and its output.
create function runner_job_json(j runner_jobs) returns json language sql stable as $$
  select json_build_object('job_id', j.job_id, 'team_id', j.team_id, 'runner_id', j.runner_id, 'runner_name', j.runner_name,
    'run_id', j.run_id, 'status', j.status, 'labels', j.labels, 'timeout_minutes', j.timeout_minutes,
    'attempts', case when j.claimed_at is null then 0 else 1 end, 'cancel_requested', j.cancel_requested_at is not null,
    'created_by', j.created_by,
    'queued_at', to_char(j.queued_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'started_at', to_char(j.claimed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'finished_at', to_char(j.finished_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'exit_code', j.exit_code, 'error', j.error)
$$;

-- Runners that wait for a job are notified of each with its labels; the job's workflow is started, and woken by what changes its clocks.
create function runner_job_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then new := old;
  elsif tg_op = 'INSERT' then
    perform pg_notify('runner_jobs', json_build_object('job_id', new.job_id, 'team_id', new.team_id, 'labels', new.labels)::text);
  elsif new.status = 'running' and new.cancel_requested_at is not distinct from old.cancel_requested_at then return null;
  end if;
  insert into outbox (kind, subject, team_id, payload, correlation_id)
    values ('runner.job', new.job_id::text, new.team_id, jsonb_build_object('job_id', new.job_id), new.correlation_id);
  return null;
end $$;
create trigger runner_job_created after insert on runner_jobs for each row execute function runner_job_changed();
-- A job is deleted open with its team only: its workflow then ends.
create trigger runner_job_deleted after delete on runner_jobs for each row
  when (old.finished_at is null) execute function runner_job_changed();
create trigger runner_job_changed after update of status, cancel_requested_at on runner_jobs for each row
  when (old.status <> new.status or old.cancel_requested_at is distinct from new.cancel_requested_at) execute function runner_job_changed();
