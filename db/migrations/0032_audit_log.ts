import type { Knex } from 'knex';

/**
 * Lets admins read the audit log: each filter has an index in the order of the time, so that a page costs the same in a log of any size. Times
 * are compared by their bytes, whatever the locale of the database.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
alter table audit_entries alter column timestamp type text collate "C";

create index audit_of_user on audit_entries (team_id, user_id, timestamp, audit_id);
create index audit_of_address on audit_entries (team_id, ip_address, timestamp, audit_id);
create index audit_of_kind on audit_entries (team_id, feature, action, severity, entity_type, timestamp, audit_id);
-- Also what changed since a stale version (api/tasks/write/stale-version.sql.ts), so the two partial indexes for that are dropped.
create index audit_of_entity on audit_entries (team_id, entity_id, timestamp, audit_id);
drop index audit_of_task_updates;
drop index audit_of_item_updates;

-- The kinds of entries that there are: about a hundred, in all teams together. A filter by feature, action, severity or entity type reads one
-- range of audit_of_kind for each. The sealer adds to them (audit_seal).
create table audit_kinds (
  feature text not null,
  action text not null,
  severity text not null,
  entity_type text not null,
  primary key (feature, action, severity, entity_type)
);

-- Counts of sealed entries by UTC date, so that statistics of a year read a few thousand rows. The sealer adds a thousand entries at a time
-- (audit_count_sealed); audit_counted says up to which sequence, and a reader counts the rest. Derived: no proof rests on them.
create table audit_counted (chain uuid primary key, sequence bigint not null);
create table audit_kind_counts (
  chain uuid not null,
  date text collate "C" not null,
  feature text not null,
  action text not null,
  severity text not null,
  count integer not null,
  primary key (chain, date, feature, action, severity)
);
create table audit_user_counts (
  chain uuid not null,
  date text collate "C" not null,
  user_id uuid not null,
  count integer not null,
  primary key (chain, date, user_id)
);
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
