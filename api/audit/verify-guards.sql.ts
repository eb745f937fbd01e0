import { defineStatement } from '../../db/statement.js';
import { MAX_BREAKS } from './break.js';

/**
 * $1 = tables, $2 = expected triggers, $3 = keys, $4 = body of the triggers' function. What is expected of audit_entries is expected of each
 * of its partitions: a partition may be named directly.
 */
export const findChangedGuardsStatement = defineStatement({
  name: 'find_changed_guards',
  text: /* sql */ `
with partitions as (
  select c.oid, c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'audit_entries'::regclass
),
tables as (
  select c.oid, c.relname, c.relrowsecurity from pg_class c
  where c.oid = any($1::text[]::regclass[]) or c.oid in (select oid from partitions)
),
wanted_triggers as (
  select wanted as definition from unnest($2::text[]) wanted
  union all select replace(wanted, 'public.audit_entries ', 'public.' || relname || ' ')
  from unnest($2::text[]) wanted cross join partitions where wanted like '%public.audit_entries %'
),
wanted_keys as (
  select wanted as definition from unnest($3::text[]) wanted
  union all select replace(wanted, 'audit_entries ', relname || ' ')
  from unnest($3::text[]) wanted cross join partitions where wanted like 'audit_entries %'
),
triggers as (
  select pg_get_triggerdef(t.oid) as definition, t.tgenabled in ('O', 'A') as enabled
  from pg_trigger t join tables on tables.oid = t.tgrelid where not t.tgisinternal
),
keys as (
  select tables.relname || ' ' || pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join tables on tables.oid = k.conrelid join pg_index i on i.indexrelid = k.conindid
  where i.indisunique and i.indisvalid and i.indisready
)
select 'missing or disabled: ' || definition as detail from wanted_triggers
  where definition not in (select definition from triggers where enabled)
union all select 'not part of the product: ' || definition from triggers where definition not in (select definition from wanted_triggers)
union all select 'missing: ' || definition from wanted_keys where definition not in (select definition from keys)
union all select 'not part of the product: rule ' || r.rulename || ' on ' || tables.relname
  from pg_rewrite r join tables on tables.oid = r.ev_class
union all select 'not part of the product: row security on ' || relname from tables where relrowsecurity
union all select 'changed: function refuse_change()' where not exists (
  select from pg_proc where oid = to_regproc('refuse_change') and trim(regexp_replace(prosrc, '\\s+', ' ', 'g')) = $4)
limit ${MAX_BREAKS}`,
});
