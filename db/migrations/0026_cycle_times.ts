import type { Knex } from 'knex';

/** From an issue's opening to the merge that closed it, for the teams that had bound the repository. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Deliveries come in any order: an issue event writes "opened_at", a merge "pr_number" and "merged_at". A row with both is a sample.
create table cycle_times (
  team_id uuid not null references teams,
  repo text not null check (repo = lower(repo)),
  issue_number integer not null,
  opened_at timestamptz,
  -- The issue was reopened at least once.
  reopened boolean not null default false,
  -- The newest merged pull request that closes the issue.
  pr_number integer,
  merged_at timestamptz,
  -- Project and task of the issue when the delivery came.
  project_id uuid references projects on delete set null,
  task_id text references tasks on delete set null,
  primary key (team_id, repo, issue_number),
  check ((pr_number is null) = (merged_at is null))
);
create index cycle_times_of_team on cycle_times (team_id, merged_at desc) include (repo, project_id, opened_at)
  where merged_at is not null and opened_at is not null;
create index cycle_times_of_project on cycle_times (project_id) where project_id is not null;
create index cycle_times_of_task on cycle_times (task_id) where task_id is not null;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
