import type { Knex } from 'knex';

/** Lists read only what is the caller's: counts of runs beside the automation, and an index for each way into the runs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- What the runs of an automation come to. "runs" and "failed" count since its creation: runs that are deleted after their time stay
-- counted, test runs never are. "dead_letters" are the failed runs that are stored and that no replay has made good; their number
-- goes down when one is replayed or deleted. Striped over shards, so that runs of one automation that end at the same time do not
-- wait for each other's commit: the sum of the shards counts, one shard alone may be negative. No foreign key: automations are never
-- deleted, and the check would lock their rows.
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
-- Newest first, also with one status alone, and without the tests for what an automation says of its last run.
drop index runs_of_automation;
create index runs_of_automation on automation_runs (automation_id, queued_at desc, run_id desc);
create index runs_by_status on automation_runs (automation_id, status, queued_at desc, run_id desc);
create index runs_that_count on automation_runs (automation_id, queued_at desc) where not is_test;
drop index runs_failed;
create index dead_letters on automation_runs (automation_id, finished_at desc, run_id desc)
  where status = 'failed' and not is_test and retried_by is null;

-- Automations that were deleted still have runs to be read.
create index automations_ever_of_team on automations (team_id) where team_id is not null;
create index forge_repositories_of_team on forge_repositories (team_id, repo);
create index automations_ever_of_creator on automations (created_by) where team_id is null;
`);
}

/** Whatever statement writes runs, it counts them. In the order of the automations, so that two writers never wait in a circle. */
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
