import type { Knex } from 'knex';

/** Lists read only the caller's rows: run counts per automation, and an index for each filter of runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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
  primary key (automation_id, shard)
) with (fillfactor = 50);

create function is_dead_letter(r automation_runs) returns boolean language sql immutable as $$
  select r.status = 'failed' and not r.is_test and r.retried_by is null
$$;

insert into automation_counts (automation_id, shard, runs, failed, dead_letters)
select automation_id, 0, count(*), count(*) filter (where status = 'failed'), count(*) filter (where is_dead_letter(r))
from automation_runs r where not is_test group by automation_id;
`);
  await knex.raw(counting);
  await knex.raw(/* sql */ `
-- Newest first, also for one status, and without test runs for an automation's last run.
drop index runs_of_automation;
create index runs_of_automation on automation_runs (automation_id, queued_at desc, run_id desc);
create index runs_by_status on automation_runs (automation_id, status, queued_at desc, run_id desc);
create index runs_that_count on automation_runs (automation_id, queued_at desc) where not is_test;
drop index runs_failed;
create index dead_letters on automation_runs (automation_id, finished_at desc, run_id desc)
  where status = 'failed' and not is_test and retried_by is null;

-- Deleted automations still have readable runs.
create index automations_ever_of_team on automations (team_id) where team_id is not null;
create index forge_repositories_of_team on forge_repositories (team_id, repo);
create index automations_ever_of_creator on automations (created_by) where team_id is null;
`);
}

/** Counts runs, whatever statement writes them. Ordered by automation, so that two writers cannot deadlock. */
const counting = /* sql */ `
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
`;

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
