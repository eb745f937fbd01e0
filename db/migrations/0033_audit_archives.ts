import type { Knex } from 'knex';

/** Months of audit entries that an operator has moved into files (docs/adr/0019-partitions.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- One row for each archived month: what its file holds, so that the seals that stay still prove it. "seals_hash": SHA-256 over the entry hashes
-- in the order of chain and sequence. "content_hash": SHA-256 of the file, uncompressed. The audit entry "audit_id" says the same.
create table audit_archives (
  month text primary key check (month ~ '^\\d{4}-\\d\\d$'),
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
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
