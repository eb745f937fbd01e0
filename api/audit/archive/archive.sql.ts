import { defineStatement } from '../../../db/statement.js';
import { HASHED_FIELDS } from '../chain.js';

/** Size of a page of entries. */
export const PAGE = 1_000;

export const listArchivesStatement = defineStatement({
  name: 'list_audit_archives',
  text: /* sql */ `
    select month, lower_id, upper_id, entries, file, encode(content_hash, 'hex') as content_hash, encode(seals_hash, 'hex') as seals_hash,
      audit_id from audit_archives order by month`,
});

/** Months before $1 (YYYY-MM) that are over and still part of the log, oldest first. */
export const listMonthsStatement = defineStatement({
  name: 'list_audit_months',
  text: /* sql */ `
    select replace(right(p.partition, 7), '_', '-') as month, p.lower as lower_id, p.upper as upper_id from partitions_of('audit_entries') p
    where p.upper <= uuid_at(least(($1 || '-01')::timestamp, date_trunc('month', now() at time zone 'UTC')) at time zone 'UTC')
    order by 1`,
});

export const isOwnerStatement = defineStatement({
  name: 'owns_audit_entries',
  text: `select pg_has_role(relowner, 'usage') as owns from pg_class where oid = 'audit_entries'::regclass`,
});

/** $1 = lowest id, $2 = id after the highest. Entries of the range, and those of them without a seal. */
export const countEntriesStatement = defineStatement({
  name: 'count_audit_entries',
  text: /* sql */ `
    select count(*) as entries, count(*) filter (where s.audit_id is null) as unsealed
    from audit_entries e left join audit_seals s using (audit_id) where e.audit_id >= $1 and e.audit_id < $2`,
});

/** $1 = lowest id, $2 = id after the highest. One sort for the whole month; the rows stay in the database until they are fetched. */
export const declareEntriesStatement = defineStatement({
  name: 'declare_archived_entries',
  text: /* sql */ `
    declare archived_entries cursor for
    select s.chain, s.sequence, encode(s.prev_hash, 'hex') as prev_hash, encode(s.entry_hash, 'hex') as entry_hash,
      ${HASHED_FIELDS.map((field) => `e.${field}`).join(', ')}
    from audit_entries e join audit_seals s using (audit_id) where e.audit_id >= $1 and e.audit_id < $2 order by s.chain, s.sequence`,
});
export const fetchEntriesStatement = defineStatement({
  name: 'fetch_archived_entries',
  text: `fetch ${PAGE} from archived_entries`,
});

/** $1 = month, $2 = number of entries in its file. */
export const detachMonthStatement = defineStatement({ name: 'detach_audit_month', text: 'select audit_detach_month($1, $2)' });
/** $1 = month, $2 = lowest id, $3 = id after the highest, $4 = entries, $5 = file name, $6 and $7 = hashes, $8 = id of the audit entry. */
export const recordArchiveStatement = defineStatement({
  name: 'record_audit_archive',
  text: /* sql */ `
    insert into audit_archives (month, lower_id, upper_id, entries, file, content_hash, seals_hash, audit_id)
    values ($1, $2, $3, $4, $5, decode($6, 'hex'), decode($7, 'hex'), $8)`,
});
/** $1 = month. */
export const dropMonthStatement = defineStatement({ name: 'drop_audit_month', text: 'select audit_drop_month($1) as dropped' });

/** Archived months whose table is still in the database, oldest first. */
export const listDetachedStatement = defineStatement({
  name: 'list_detached_audit_months',
  text: /* sql */ `
    select month from audit_archives where to_regclass('audit_entries_' || replace(month, '-', '_')) is not null order by month`,
});

/** $1 = ids of the entries that record archives. */
export const readRecordsStatement = defineStatement({
  name: 'read_audit_archive_records',
  text: 'select audit_id, entity_id as month, details from audit_entries where audit_id = any($1::uuid[])',
});
