import type { Knex } from 'knex';

/** Links the replays of one failure, and indexes approvals by user. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Replays of a deleted run are found without reading every run.
create index runs_replaying on automation_runs (retry_of) where retry_of is not null;

-- The failed run behind a replay, or behind a replay of a replay. No foreign key: the replays stay linked after that run is deleted.
alter table automation_runs add column first_run_id uuid;
with recursive line as (
  select f.run_id, f.run_id as first_run_id from automation_runs f
  where f.retry_of is null and f.run_id in (select retry_of from automation_runs where retry_of is not null)
  union all
  select r.run_id, l.first_run_id from line l join automation_runs r on r.retry_of = l.run_id
)
update automation_runs r set first_run_id = l.first_run_id from line l where r.run_id = l.run_id and r.retry_of is not null;
create index runs_of_first on automation_runs (first_run_id, finished_at) where first_run_id is not null;

-- If one of them succeeded, none of the others is replayable.
update automation_runs f set retried_by = s.run_id from automation_runs s
where s.first_run_id is not null and s.status = 'succeeded' and s.first_run_id = coalesce(f.first_run_id, f.run_id)
  and f.status = 'failed' and f.retried_by is null;

create index gate_approvals_of_person on gate_approvals (user_id);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
