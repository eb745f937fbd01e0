-- Runs of automations, their steps and effects, and counts of them.

create table automation_runs (
  run_id uuid primary key,
  automation_id uuid not null references automations,
  automation_version integer not null,
  automation_name text not null,
  team_id uuid references teams,
  project_id uuid,
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
  retry_of uuid references automation_runs on delete set null,
  retried_by uuid references automation_runs on delete set null,
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
  -- The failed run behind a replay, or behind a replay of a replay. No foreign key: the replays stay linked after that run is deleted.
  first_run_id uuid,
  -- As in the outbox.
  cause_user_ids uuid[] not null default '{}',
  foreign key (automation_id, automation_version) references automation_versions
);
create index runs_open on automation_runs (status, queued_at) where finished_at is null;
create index runs_waiting on automation_runs (team_id, gate_expires_at, run_id) where status = 'paused';
create index runs_waiting_personally on automation_runs (creator_id, gate_expires_at, run_id) where status = 'paused' and team_id is null;
create index runs_of_delivery on automation_runs ((event->>'receipt_id')) where event->>'receipt_id' is not null;
-- A run has one active replay at a time.
create unique index runs_one_open_retry on automation_runs (retry_of) where finished_at is null;
create index runs_replayed_by on automation_runs (retried_by) where retried_by is not null;
create index runs_finished on automation_runs (finished_at) where finished_at is not null;
-- Replays of a deleted run are found without reading every run.
create index runs_replaying on automation_runs (retry_of) where retry_of is not null;
create index runs_of_first on automation_runs (first_run_id, finished_at) where first_run_id is not null;
-- Newest first, also for one status.
create index runs_of_automation on automation_runs (automation_id, queued_at desc, run_id desc);
create index runs_by_status on automation_runs (automation_id, status, queued_at desc, run_id desc);
-- Without test runs, for the last run of an automation.
create index runs_that_count on automation_runs (automation_id, queued_at desc) where not is_test;
create index dead_letters on automation_runs (automation_id, finished_at desc, run_id desc)
  where status = 'failed' and not is_test and retried_by is null;
create index runs_rejected on automation_runs (automation_id, queued_at desc, run_id desc) where skip_reason = 'rejected';
create index runs_of_version on automation_runs (automation_id, automation_version);

create table run_actions (
  run_id uuid not null references automation_runs on delete cascade,
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
  -- Time at which a step continues: the end of a delay, or the retry of a failed action. The database's clock decides.
  due_at timestamptz,
  primary key (run_id, index)
);

-- One row per effect, in the effect's own transaction: the key {run_id}:{action_index} is unique.
create table effects (
  run_id uuid not null references automation_runs on delete cascade,
  action_index integer not null,
  entity_type text not null,
  entity_id text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, action_index)
);
-- Runs that changed an item, for its page.
create index effects_of_entity on effects (entity_id, run_id);

-- Run counts of an automation. "runs" and "failed" count since its creation, including runs deleted since; test runs never count.
-- "dead_letters" are the stored failed runs without a successful replay; replaying or deleting one decreases it. Striped over shards, so
-- that runs of one automation that end at the same time do not wait for each other's commit: the sum counts, and one shard alone may be
-- negative. No foreign key: automations are never deleted, and the check would lock their rows.
create table automation_counts (
  automation_id uuid not null,
  shard integer not null,
  runs bigint not null default 0,
  failed bigint not null default 0,
  dead_letters bigint not null default 0,
  skipped_not_kept bigint not null default 0,
  last_skipped_at timestamptz,
  primary key (automation_id, shard)
) with (fillfactor = 50);

create function is_dead_letter(r automation_runs) returns boolean language sql immutable as $$
  select r.status = 'failed' and not r.is_test and r.retried_by is null
$$;

-- Counts runs, whatever statement writes them. Ordered by automation, so that two writers cannot deadlock.
create function count_runs() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into automation_counts as c (automation_id, shard, runs, failed, dead_letters)
      select n.automation_id, pg_backend_pid() % 16, count(*), count(*) filter (where n.status = 'failed'),
        count(*) filter (where n.status = 'failed' and n.retried_by is null)
      from written n where not n.is_test group by n.automation_id order by n.automation_id
    on conflict (automation_id, shard) do update set runs = c.runs + excluded.runs, failed = c.failed + excluded.failed,
      dead_letters = c.dead_letters + excluded.dead_letters;
  elsif tg_op = 'DELETE' then
    insert into automation_counts as c (automation_id, shard, dead_letters)
      select o.automation_id, pg_backend_pid() % 16, -count(*)
      from written o where o.status = 'failed' and not o.is_test and o.retried_by is null
      group by o.automation_id order by o.automation_id
    on conflict (automation_id, shard) do update set dead_letters = c.dead_letters + excluded.dead_letters;
  else
    insert into automation_counts as c (automation_id, shard, failed, dead_letters)
      values (new.automation_id, pg_backend_pid() % 16, (new.status = 'failed')::int - (old.status = 'failed')::int,
        is_dead_letter(new)::int - is_dead_letter(old)::int)
    on conflict (automation_id, shard) do update set failed = c.failed + excluded.failed,
      dead_letters = c.dead_letters + excluded.dead_letters;
  end if;
  return null;
end $$;
create trigger runs_made after insert on automation_runs referencing new table as written
  for each statement execute function count_runs();
create trigger runs_deleted after delete on automation_runs referencing old table as written
  for each statement execute function count_runs();
create trigger runs_changed after update on automation_runs for each row
  when (not new.is_test and ((old.status = 'failed') <> (new.status = 'failed')
    or (new.status = 'failed' and (old.retried_by is null) <> (new.retried_by is null))))
  execute function count_runs();

-- A run that its condition or its depth skips is one narrow row without its event, and a team keeps a number of them an hour. Older rows stay in
-- automation_runs.
-- The id is a UUIDv7 of event and automation: it begins with the time of the event, so no column repeats it. No foreign keys: each would
-- cost a look-up and a lock per row, and automations are never deleted. Name, trigger and actions are those of the version.
create table skipped_runs (
  run_id uuid primary key,
  automation_id uuid not null,
  triggered_by uuid,
  automation_version integer not null,
  depth smallint not null,
  is_loop boolean not null,
  condition_error text check (octet_length(condition_error) <= 48)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);
-- Equal keys share one entry: the runs of one automation and one transaction have the same time.
create index skipped_runs_of_automation on skipped_runs (automation_id, uuid_extract_timestamp(run_id));

-- Skipped runs of a team, or of a person's own automations, in one hour: kept as rows, and only counted.
create table skipped_run_budgets (
  hour timestamptz not null,
  owner_id uuid not null,
  kept integer not null,
  not_kept integer not null,
  primary key (hour, owner_id)
) with (fillfactor = 50);

-- Users to whom a run counts as their own: its automation's creator, the authors of its version, its starter, and the users behind its
-- cause.
create function people_of_run(of_run uuid) returns uuid[] language sql stable as $$
  select array(select distinct person from automation_runs r
    left join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    cross join lateral unnest(array[r.creator_id, r.triggered_by, v.changed_by] || r.cause_user_ids || v.co_authors) as person
    where r.run_id = of_run and person is not null)
$$;

-- Users behind a task's due date: whoever set it last, according to its newest updates, with the users of the run that did so; otherwise
-- the task's creator.
create function people_of_due_date(task_id text, created_by uuid) returns uuid[] language sql stable as $$
  select coalesce((
    select array_remove(array[e.user_id, e.impersonator_id], null) || people_of_run((e.details->'caused_by'->>'run_id')::uuid)
    from (
      select a.user_id, a.impersonator_id, a.details::jsonb as details from audit_entries a
      where a.team_id = (select t.team_id from tasks t where t.task_id = $1) and a.entity_type = 'task' and a.action = 'update'
        and a.entity_id = $1 order by a.timestamp desc limit 100
    ) e where e.details->'changes'->'due_date' is not null limit 1
  ), array[$2])
$$;
