import { defineStatement } from '../statement.js';

/** Finds the tables that a schema describes itself with: none of them in an empty database, the first one only in that of version 0.1.0. */
export const findStateTables = defineStatement({
  name: 'find_schema_state_tables',
  text: `select to_regclass('knex_migrations') is not null as has_migrations, to_regclass('schema_compatibility') is not null as has_version`,
});

export const listMigrations = defineStatement({ name: 'list_migrations', text: 'select name from knex_migrations order by id' });

export const findOldestVersion = defineStatement({
  name: 'find_oldest_version',
  text: 'select oldest_version from schema_compatibility',
});

/**
 * Returns the SHA-256 of the schema's tables, columns, constraints, indexes, triggers, views and functions. Not of their comments and spaces, of
 * partitions, of what belongs to an extension, and of knex's own tables and the row of the compatible version.
 */
export const fingerprintSchema = defineStatement({
  name: 'fingerprint_schema',
  text: /* sql */ `
with relation as (
  select c.oid, c.relname, c.relkind from pg_class c
  where c.relnamespace = 'public'::regnamespace and not c.relispartition and c.relkind in ('r', 'p', 'v', 'c')
    and c.relname !~ '^knex_' and c.relname <> 'schema_compatibility'
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
), object as (
  select concat_ws(' ', 'column', r.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated::text, a.attidentity::text,
    pg_get_expr(d.adbin, d.adrelid), (select collname from pg_collation where oid = a.attcollation)) as text
  from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  union all
  select concat_ws(' ', 'constraint', r.relname, k.conname, pg_get_constraintdef(k.oid)) from relation r join pg_constraint k on k.conrelid = r.oid
  where k.contype <> 't'
  union all
  select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid)) from relation r join pg_index i on i.indrelid = r.oid
  union all
  select concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid)) from relation r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
  union all
  select concat_ws(' ', 'view', r.relname, pg_get_viewdef(r.oid)) from relation r where r.relkind = 'v'
  union all
  select concat_ws(' ', 'function', p.oid::regprocedure, pg_get_function_result(p.oid), p.provolatile::text, p.prosecdef, p.proconfig::text,
    regexp_replace(regexp_replace(p.prosrc, '--[^\\n]*', '', 'g'), '\\s+', ' ', 'g'))
  from pg_proc p where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
)
select encode(sha256(convert_to(string_agg(text, e'\\n' order by text collate "C"), 'UTF8')), 'hex') as fingerprint from object`,
});

/** Keeps two migrate steps from adopting at once; readers of the table go on. */
export const lockMigrations = defineStatement({
  name: 'lock_migrations',
  text: 'lock table knex_migrations in share row exclusive mode',
});

/**
 * Takes the turn of a migrate step until the transaction ends, or its connection; `mine` is false while another one has it. An index that is created
 * concurrently waits for every snapshot: so no statement waits here, and none is named, since its portal would keep one.
 */
export const tryMigrationTurn = defineStatement({
  name: '',
  text: /* sql */ `select set_config('idle_in_transaction_session_timeout', '0', true),
    pg_try_advisory_xact_lock(hashtextextended('assent migrate', 0)) as mine`,
});

/** Takes away the lock of knex that a step left which was interrupted in a migration without a transaction. */
export const freeLeftLock = defineStatement({
  name: 'free_left_migration_lock',
  text: 'update knex_migrations_lock set is_locked = 0 where is_locked <> 0',
});

/** $1 = name of the baseline. Replaces the names of version 0.1.0. */
export const replaceMigrations = defineStatement({
  name: 'replace_migrations',
  text: /* sql */ `
with removed as (delete from knex_migrations)
insert into knex_migrations (name, batch, migration_time) values ($1, 1, now())`,
});
