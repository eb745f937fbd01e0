import type { Knex } from 'knex';

/**
 * A run that its condition or its depth skips is one narrow row without its event, and a team keeps a number of them an hour.
 * Older rows, and those of a worker of the version before, stay in `automation_runs`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
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

alter table automation_counts add column skipped_not_kept bigint not null default 0, add column last_skipped_at timestamptz;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
