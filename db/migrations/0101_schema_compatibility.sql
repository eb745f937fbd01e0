-- The oldest version of the service that can run on this schema. A migration that only expands leaves it as it is: during an upgrade processes of
-- both versions run. One that contracts sets it to the first version that no longer uses what it removes.
create table schema_compatibility (
  is_only_row boolean primary key default true check (is_only_row),
  oldest_version text not null check (oldest_version ~ '^\d+\.\d+\.\d+$')
);
select revoke_from_others('schema_compatibility', 'insert, update, delete, truncate');
insert into schema_compatibility (oldest_version) values ('0.1.0');
