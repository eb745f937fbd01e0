import type { Knex } from 'knex';

/** The audit chain is sealed team by team, and rows that cannot be sealed are set aside instead of standing in the way. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
-- Pending entries chain by chain, so that each chain has its turn and its own lock.
alter table audit_unsealed drop constraint audit_unsealed_pkey;
alter table audit_unsealed add primary key (chain, audit_id);

-- The sealer has just read the entry, and entries are never deleted; the check locked and rewrote each one of them.
alter table audit_seals drop constraint audit_seals_audit_id_fkey;

-- Pending rows that the product never writes. The sealer moves them here; "npm run audit:verify" names them until the owner
-- of the schema has looked into it and deletes them.
create table audit_rejected (
  chain uuid not null,
  audit_id uuid not null,
  reason text not null check (reason in ('entry_missing', 'other_chain', 'already_sealed')),
  rejected_at timestamptz not null default clock_timestamp(),
  primary key (chain, audit_id)
);
do $$
declare role name;
begin
  for role in select distinct grantee from information_schema.role_table_grants
    where table_name = 'audit_rejected' and grantee not in (current_user, 'PUBLIC')
  loop
    execute format('revoke update, delete, truncate on audit_rejected from %I', role);
  end loop;
end $$;

-- Age of the oldest pending entry, 0 when none is pending. A pending row whose entry is missing or unreadable counts from the time
-- in its id, else from 1970. Looks at the first 10,000 rows: with that many the sealer stands still anyway.
create function audit_oldest_unsealed_seconds() returns double precision language sql stable as $$
  select coalesce(extract(epoch from clock_timestamp() - min(coalesce(
    case when pg_input_is_valid(e.timestamp, 'timestamp') then e.timestamp::timestamp at time zone 'UTC' end,
    uuid_extract_timestamp(p.audit_id), 'epoch'))), 0)
  from (select audit_id from audit_unsealed limit 10000) p left join audit_entries e using (audit_id)
$$;
`);
}

export async function down(): Promise<void> {
  throw new Error('Migrations go forward only: restore a backup instead');
}
