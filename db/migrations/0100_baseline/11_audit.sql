-- The audit log: entries, their seals, and the months that an operator has moved into files.

-- Appended inside the change's own transaction, never changed. "timestamp" and "details" are text because the chain hashes exactly what is
-- stored and the API compares times by their bytes, whatever the locale of the database. Each filter of the log has an index in the order of the
-- time, so that a page costs the same in a log of any size.
create table audit_entries (
  audit_id uuid primary key,
  correlation_id uuid not null,
  timestamp text collate "C" not null,
  team_id uuid,
  user_id uuid,
  user_email text,
  actor_type text not null,
  impersonator_id uuid,
  token_id uuid,
  ip_address text,
  user_agent text,
  feature text not null,
  action text not null,
  severity text not null check (severity in ('LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  outcome text not null check (outcome in ('success', 'failure', 'denied')),
  entity_type text not null,
  entity_id text,
  details text not null
) partition by range (audit_id);
create index audit_of_team on audit_entries (team_id, timestamp, audit_id);
create index audit_of_correlation on audit_entries (correlation_id);
create index audit_of_user on audit_entries (team_id, user_id, timestamp, audit_id);
create index audit_of_address on audit_entries (team_id, ip_address, timestamp, audit_id);
create index audit_of_kind on audit_entries (team_id, feature, action, severity, entity_type, timestamp, audit_id);
-- Also what changed since a stale version.
create index audit_of_entity on audit_entries (team_id, entity_id, timestamp, audit_id);

-- Entries that the sealer must still link: inserted with the entry, deleted with the seal. No foreign key: one function writes both rows,
-- entries are never deleted, and the check would be a quarter of the cost of an entry. Seals have none either: they outlast archived entries.
create table audit_pending (
  audit_id uuid not null,
  chain uuid not null,
  -- By chain, so that each chain has its own turn and lock.
  primary key (chain, audit_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table audit_seals (
  chain uuid not null,
  sequence bigint not null,
  audit_id uuid not null unique,
  prev_hash bytea not null,
  entry_hash bytea not null,
  primary key (chain, sequence),
  unique (chain, prev_hash)
);

create table audit_heads (chain uuid primary key, sequence bigint not null, entry_hash bytea not null);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = '42501';
end $$;
create trigger audit_entries_append_only before update or delete on audit_entries for each row execute function refuse_change();
create trigger audit_entries_keep before truncate on audit_entries for each statement execute function refuse_change();
select register_partitions('audit_entries', 'month', ahead => 3, append_only => true);

create trigger audit_seals_append_only before update or delete on audit_seals for each row execute function refuse_change();
create trigger audit_seals_keep before truncate on audit_seals for each statement execute function refuse_change();

-- Invalid pending rows, which the product never writes. The sealer moves them here; "npm run audit:verify" lists them until the owner of
-- the schema has investigated and deletes them.
create table audit_rejected (
  chain uuid not null,
  audit_id uuid not null,
  reason text not null check (reason in ('entry_missing', 'other_chain', 'already_sealed')),
  rejected_at timestamptz not null default clock_timestamp(),
  primary key (chain, audit_id)
);
-- The service's role may only insert and read; the owner of the schema keeps all other rights.
select revoke_from_others(guarded, 'update, delete, truncate') from unnest('{audit_entries,audit_seals,audit_rejected}'::regclass[]) guarded;

-- Age of the oldest pending entry, 0 without one. A pending row whose entry is missing or unreadable counts from the time in its id, else
-- from 1970. Reads the first 10,000 rows only: with that many the sealer is down anyway.
create function audit_oldest_unsealed_seconds() returns double precision language sql stable as $$
  select coalesce(extract(epoch from clock_timestamp() - min(coalesce(
    case when pg_input_is_valid(e.timestamp, 'timestamp') then e.timestamp::timestamp at time zone 'UTC' end,
    uuid_extract_timestamp(p.audit_id), 'epoch'))), 0)
  from (select audit_id from audit_pending limit 10000) p left join audit_entries e using (audit_id)
$$;

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

-- One row for each archived month: what its file holds, so that the seals that stay still prove it. "seals_hash": SHA-256 over the entry hashes
-- in the order of chain and sequence. "content_hash": SHA-256 of the file, uncompressed. The audit entry "audit_id" says the same.
create table audit_archives (
  month text primary key check (month ~ '^\d{4}-\d\d$'),
  lower_id uuid not null,
  upper_id uuid not null,
  entries bigint not null,
  file text not null,
  content_hash bytea not null,
  seals_hash bytea not null,
  audit_id uuid not null unique,
  archived_at timestamptz not null default now()
);

create trigger audit_archives_append_only before update or delete on audit_archives for each row execute function refuse_change();
create trigger audit_archives_keep before truncate on audit_archives for each statement execute function refuse_change();
select revoke_from_others('audit_archives', 'insert, update, delete, truncate');

-- Takes a month out of the log if it has exactly the expected entries; its table stays, append-only. Writers of the log wait until the commit,
-- and at most 250 ms for the lock. The month itself is locked first, against late entries only: readers must not wait for the count.
create function audit_detach_month(of_month text, expected bigint) returns void language plpgsql set lock_timeout = '250ms' as $$
declare
  partition text := 'audit_entries_' || replace(of_month, '-', '_');
  present bigint;
begin
  execute format('lock table %I in share mode', partition);
  execute format('select count(*) from %I', partition) into present;
  if present <> expected then
    raise 'The month % has % entries, and % were written to the file', of_month, present, expected using errcode = '40001';
  end if;
  execute format('alter table audit_entries detach partition %I', partition);
  -- A detached table loses the row trigger of its parent.
  execute format('create trigger audit_entries_append_only before update or delete on %I for each row execute function refuse_change()',
    partition);
end $$;

-- Drops the table of an archived month. False: it is gone already.
create function audit_drop_month(of_month text) returns boolean language plpgsql as $$
declare
  partition text := 'audit_entries_' || replace(of_month, '-', '_');
begin
  if not exists (select from audit_archives a where a.month = of_month) then raise 'The month % is not archived', of_month; end if;
  if to_regclass(partition) is null then return false; end if;
  if exists (select from pg_inherits i where i.inhrelid = to_regclass(partition)) then raise '% is part of the log', partition; end if;
  execute format('drop table %I', partition);
  return true;
end $$;
revoke execute on function audit_detach_month, audit_drop_month from public;
